import { IconLock, IconMapOff } from "@tabler/icons-react";
import { useDocumentTitle } from "@mantine/hooks";
import { toProblem } from "@/lib/problem";
import { words } from "@/words";
import { ButtonLink } from "./button-link";
import { Empty } from "./empty";

/** A whole page that the server does not have or does not show: said once, in the server's words. */
export function Refused({ error }: { error: unknown }) {
  const problem = toProblem(error);
  useDocumentTitle(`${problem.title} · Penstock`);
  return (
    <div role="alert">
      <Empty
        icon={problem.status === 403 ? <IconLock size={20} /> : <IconMapOff size={20} />}
        title={problem.title}
        heading
        action={
          <ButtonLink to="/" variant="default">
            {words.common.toOverview}
          </ButtonLink>
        }
      >
        {problem.detail && problem.detail !== problem.title && (
          <span style={{ display: "block" }}>{problem.detail}</span>
        )}
        {problem.request_id && <span className="ps-mono">{words.common.request(problem.request_id)}</span>}
      </Empty>
    </div>
  );
}
