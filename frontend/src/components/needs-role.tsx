import type { ReactNode } from "react";
import { type Over, useMayWrite } from "@/lib/permissions";
import { useSession } from "@/lib/session";
import { words } from "@/words/late-parts";
import { Lines } from "./card";
import { Notice } from "./notice";
import { PageHeader } from "./page-header";

const say = words.needsRole;

const ON: Record<Over, string> = {
  cluster: say.theWholeCluster,
  topic: say.topicsLikeThis,
  group: say.thisGroup,
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
      <Notice tone="info" title={say.youMayLookAtThis}>
        {say.needsTheRoleOperatorOn(what, clusterId ? ON[over] : say.clusters)}
      </Notice>
    </>
  );
}
