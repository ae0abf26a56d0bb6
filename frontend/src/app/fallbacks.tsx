import { Container } from "@mantine/core";
import { IconMapOff } from "@tabler/icons-react";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { ButtonLink } from "@/components/button-link";
import { Empty } from "@/components/empty";
import { ProblemPanel } from "@/components/problem-panel";

export function NotFound() {
  return (
    <Empty
      icon={<IconMapOff size={20} />}
      title="Page not found"
      heading
      action={
        <ButtonLink to="/" variant="default">
          Go to the overview
        </ButtonLink>
      }
    >
      The address may be mistyped, or what it named has been deleted.
    </Empty>
  );
}

export function RouteError({ error, reset }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      <ProblemPanel error={error} onRetry={reset} />
    </Container>
  );
}
