import { Button, Group, Select, TextInput } from "@mantine/core";
import { IconTable } from "@tabler/icons-react";
import { useState } from "react";
import { Lines } from "@/components/card";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { RelTime } from "@/components/rel-time";
import { SearchBox } from "@/components/search-box";
import { useAccessMatrix } from "@/lib/access";
import { isRefusal } from "@/lib/problem";
import { RESOURCE_TYPES, type ResourceType } from "@/lib/search";
import { useTypedText } from "@/lib/use-typed-text";
import { typeWords } from "@/lib/acl-words";
import { words } from "@/words/access";
import { MatrixTable } from "./matrix-table";

const say = words.matrixView;

export interface MatrixSearch {
  q?: string;
  name?: string;
  type?: ResourceType;
}

interface MatrixViewProps {
  clusterId: string;
  view: MatrixSearch;
  onView: (view: MatrixSearch) => void;
  onCheck: (who: string) => void;
}

/** Principals × resources: which operations ACLs allow and deny, a page of principals at a time. */
export function MatrixView({ clusterId, view, onView, onCheck }: MatrixViewProps) {
  const asked = { principal: view.q, resource: view.name, resource_type: view.type };
  const search = JSON.stringify(asked);
  // Cursors of the pages before and of this one; of another search they are no good.
  const [pages, setPages] = useState<{ search: string; cursors: string[] }>({ search, cursors: [] });
  const cursors = pages.search === search ? pages.cursors : [];
  const query = useAccessMatrix(clusterId, { ...asked, cursor: cursors.at(-1) });
  const [name, setName] = useTypedText(view.name ?? "", (text) => onView({ ...view, name: text || undefined }));
  const isNarrowed = Object.values(asked).some((value) => value !== undefined);
  const go = (next: string[]) => setPages({ search, cursors: next });
  const found = query.data;
  return (
    <>
      <div className="ps-toolbar">
        <SearchBox
          value={view.q ?? ""}
          label={say.searchPrincipals}
          onChange={(q) => onView({ ...view, q: q || undefined })}
        />
        <TextInput
          size="xs"
          aria-label={say.resourcesName}
          placeholder={say.resourcesName}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Select
          size="xs"
          aria-label={say.typeOfResource}
          placeholder={say.everyType}
          clearable
          data={RESOURCE_TYPES.map((type) => ({ value: type, label: typeWords(type) }))}
          value={view.type ?? null}
          onChange={(type) => onView({ ...view, type: type ?? undefined })}
        />
      </div>
      {query.isPending && <Lines rows={6} />}
      {query.isError && (
        <div className="ps-card-body">
          {found ? (
            <Notice tone="warn">{say.notReadAgain}</Notice>
          ) : (
            <ProblemPanel error={query.error} onRetry={isRefusal(query) ? undefined : () => void query.refetch()} />
          )}
        </div>
      )}
      {found && (
        <>
          {found.observed.stale_reason && (
            <div className="ps-card-body">
              <Notice tone="warn">{say.aclsAsLastRead(found.observed.stale_reason)}</Notice>
            </div>
          )}
          {found.columns_left_out > 0 && (
            <div className="ps-card-body">
              <Notice tone="info">{say.resourcesNotShown(found.columns_left_out)}</Notice>
            </div>
          )}
          {found.data.length === 0 ? (
            <Empty icon={<IconTable size={20} />} title={isNarrowed ? say.noAclFits : say.noAclsYet}>
              {isNarrowed ? say.noSuchAcl : say.withoutAnAcl}
            </Empty>
          ) : (
            <MatrixTable matrix={found} onCheck={onCheck} />
          )}
          <Group justify="space-between" px={14} py={8}>
            <span className="ps-muted" style={{ fontSize: "0.75rem" }}>
              {found.observed.as_of
                ? say.principalsAsOf(found.principals, <RelTime at={found.observed.as_of} />)
                : say.principals(found.principals)}
            </span>
            {(cursors.length > 0 || found.page.has_more) && (
              <Group gap={8}>
                <Button
                  size="xs"
                  variant="default"
                  disabled={cursors.length === 0}
                  onClick={() => go(cursors.slice(0, -1))}
                >
                  {say.previousPrincipals}
                </Button>
                <Button
                  size="xs"
                  variant="default"
                  disabled={!found.page.next}
                  onClick={() => found.page.next && go([...cursors, found.page.next])}
                >
                  {say.nextPrincipals}
                </Button>
              </Group>
            )}
          </Group>
        </>
      )}
    </>
  );
}
