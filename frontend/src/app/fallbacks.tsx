import { useDocumentTitle } from "@mantine/hooks";
import { IconMapOff } from "@tabler/icons-react";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { ButtonLink } from "@/components/button-link";
import { Empty } from "@/components/empty";
import { ProblemPanel } from "@/components/problem-panel";
import { toProblem } from "@/lib/problem";
import { words } from "@/words";

export function NotFound() {
  useDocumentTitle(`${words.common.pageNotFound} · Penstock`);
  return (
    <Empty
      icon={<IconMapOff size={20} />}
      title={words.common.pageNotFound}
      heading
      action={
        <ButtonLink to="/" variant="default">
          {words.common.toOverview}
        </ButtonLink>
      }
    >
      {words.common.pageNotFoundWhy}
    </Empty>
  );
}

export function RouteError({ error, reset }: ErrorComponentProps) {
  useDocumentTitle(`${toProblem(error).title} · Penstock`);
  return (
    <div style={{ maxWidth: 720, margin: "0 auto", padding: "32px 16px" }}>
      <ProblemPanel error={error} onRetry={reset} />
    </div>
  );
}
