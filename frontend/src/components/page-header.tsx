import { Group, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Part } from "@/lib/page";
import { useCluster } from "@/lib/use-clusters";
import { words } from "@/words/parts";
import { RelTime } from "./rel-time";

const say = words.pageHeader;

interface PageHeaderProps {
  title: string;
  /** Shown beside the title: status, badges. */
  mark?: ReactNode;
  sub?: ReactNode;
  /** The part that the page is about: its age is said here, once for the page. */
  seen?: Pick<Part, "as_of"> | null;
  actions?: ReactNode;
  mono?: boolean;
}

export function PageHeader({ title, mark, sub, seen, actions, mono = false }: PageHeaderProps) {
  const { clusterId } = useParams({ strict: false });
  const cluster = useCluster(clusterId)?.name;
  // Of two windows on the topics of two clusters one has to be told from the other.
  useDocumentTitle([title, cluster === title ? undefined : cluster, "Penstock"].filter(Boolean).join(" · "));
  return (
    <Group justify="space-between" align="flex-start" gap="sm" mb="md">
      <div style={{ minWidth: 0 }}>
        <Group gap={12} align="center">
          <Title order={1} className={mono ? "ps-mono" : undefined} style={mono ? { fontSize: "1.25rem" } : undefined}>
            {title}
          </Title>
          {mark}
        </Group>
        {(sub || seen?.as_of) && (
          <div className="ps-muted" style={{ fontSize: "0.8125rem", marginTop: 3 }}>
            {sub}
            {seen?.as_of && (
              <span style={{ whiteSpace: "nowrap" }}>{say.seen(sub ? " · " : "", <RelTime at={seen.as_of} />)}</span>
            )}
          </div>
        )}
      </div>
      {actions && <Group gap={8}>{actions}</Group>}
    </Group>
  );
}
