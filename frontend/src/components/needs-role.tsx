import type { ReactNode } from "react";
import { type Over, useMayWrite } from "@/lib/permissions";
import { useSession } from "@/lib/session";
import { Lines } from "./card";
import { Notice } from "./notice";
import { PageHeader } from "./page-header";

const ON: Record<Over, string> = {
  cluster: "the whole cluster",
  topic: "topics like this",
  group: "this group",
};

interface NeedsRoleProps {
  over: Over;
  clusterId?: string;
  name?: string;
  /** What the form does: "Moving partitions". */
  what: string;
  /** Of the page, where it is all the form's. */
  title?: string;
  children: ReactNode;
}

/** A form for those who may use it; the others are told what it needs, before they fill it in. */
export function NeedsRole({ over, clusterId, name, what, title, children }: NeedsRoleProps) {
  const { isPending } = useSession();
  const may = useMayWrite();
  if (isPending) return <Lines rows={4} />;
  if (may(over, clusterId, name)) return <>{children}</>;
  return (
    <>
      {title && <PageHeader title={title} />}
      <Notice tone="info" title="You may look at this, not change it">
        {what} needs the role operator on {clusterId ? ON[over] : "clusters"}. An owner of the tenant can give it.
      </Notice>
    </>
  );
}
