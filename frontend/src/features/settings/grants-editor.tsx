import { Button, Group, Select, Stack, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { api } from "@/lib/api-client";
import { grantSentence, isGrant, patternFault } from "@/lib/grant-words";
import { ANY, covers, GRANTS_MAX, NEW_GRANT, type Pattern } from "@/lib/grants";
import type { Cluster, Grant } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";
import { words } from "@/words/settings";

const say = words.grantsEditor;

const ROLES = [
  { value: "viewer", label: say.viewerReads },
  { value: "operator", label: say.operatorReadsAndChanges },
  { value: "message-reader", label: say.messageReaderReadsMessagesToo },
  { value: "message-writer", label: say.messageWriterWritesMessages },
];
const OVER = [
  { value: "topic", label: say.topics },
  { value: "group", label: say.groups },
  { value: "cluster", label: say.allThatIsOnThe },
];
const MATCHES = [
  { value: "any", label: say.anyName },
  { value: "literal", label: say.theName },
  { value: "prefix", label: say.namesThatBeginWith },
];
/** Topics or groups that a preview reads, and the names that it shows. */
const READ_MAX = 500;
const SHOWN_MAX = 5;

interface GrantsEditorProps {
  grants: Grant[];
  onChange: (grants: Grant[]) => void;
}

/** Roles by pattern, each with what it says in words and what it covers now. */
export function GrantsEditor({ grants, onChange }: GrantsEditorProps) {
  const put = (index: number, grant: Grant) => onChange(grants.map((old, at) => (at === index ? grant : old)));
  return (
    <Stack gap="sm">
      {grants.map((grant, index) => (
        <GrantFields
          key={index}
          number={index + 1}
          grant={grant}
          onChange={(next) => put(index, next)}
          onRemove={() => onChange(grants.filter((_, at) => at !== index))}
        />
      ))}
      <Button
        variant="default"
        size="xs"
        style={{ alignSelf: "start" }}
        leftSection={<IconPlus size={14} />}
        disabled={grants.length >= GRANTS_MAX}
        onClick={() => onChange([...grants, NEW_GRANT])}
      >
        {say.addAGrant}
      </Button>
    </Stack>
  );
}

interface GrantFieldsProps {
  number: number;
  grant: Grant;
  onChange: (grant: Grant) => void;
  onRemove: () => void;
}

function GrantFields({ number, grant, onChange, onRemove }: GrantFieldsProps) {
  return (
    <fieldset className="ps-card" style={{ margin: 0, padding: 12, minWidth: 0 }}>
      <legend className="ps-sr">{say.grant(number)}</legend>
      <Stack gap={8}>
        <Group gap={8} grow align="start">
          <Select
            label={say.role}
            size="xs"
            allowDeselect={false}
            data={ROLES}
            value={grant.role}
            onChange={(role) => role && onChange({ ...grant, role: role as Grant["role"] })}
          />
          <Select
            label={say.over}
            size="xs"
            allowDeselect={false}
            data={OVER}
            value={grant.over}
            onChange={(over) =>
              over && onChange({ ...grant, over: over as Grant["over"], names: over === "cluster" ? ANY : grant.names })
            }
          />
        </Group>
        {grant.over !== "cluster" && (
          <PatternFields
            label={grant.over === "topic" ? say.topics2 : say.groups2}
            pattern={grant.names}
            onChange={(names) => onChange({ ...grant, names })}
          />
        )}
        <PatternFields
          label={say.clusters}
          pattern={grant.clusters}
          onChange={(clusters) => onChange({ ...grant, clusters })}
        />
        {isGrant(grant) && (
          <div style={{ fontSize: "0.8125rem", overflowWrap: "anywhere" }}>
            {grantSentence(grant)} <Preview grant={grant} />
          </div>
        )}
        <Button
          variant="subtle"
          color="red"
          size="compact-xs"
          style={{ alignSelf: "end" }}
          leftSection={<IconTrash size={13} />}
          aria-label={say.removeGrant(number)}
          onClick={onRemove}
        >
          {say.remove}
        </Button>
      </Stack>
    </fieldset>
  );
}

interface PatternFieldsProps {
  label: string;
  pattern: Pattern;
  onChange: (pattern: Pattern) => void;
}

function PatternFields({ label, pattern, onChange }: PatternFieldsProps) {
  const fault = patternFault(pattern);
  return (
    <Group gap={8} grow align="start">
      <Select
        label={label}
        size="xs"
        allowDeselect={false}
        data={MATCHES}
        value={pattern.match}
        onChange={(match) =>
          match && onChange(match === "any" ? ANY : { ...pattern, match: match as Pattern["match"] })
        }
      />
      {pattern.match !== "any" && (
        <TextInput
          label={pattern.match === "literal" ? say.nameOf(label.toLowerCase()) : say.beginningOf(label.toLowerCase())}
          size="xs"
          className="ps-mono"
          autoComplete="off"
          maxLength={255}
          error={pattern.name === "" ? undefined : fault || undefined}
          value={pattern.name}
          onChange={(event) => onChange({ ...pattern, name: event.currentTarget.value })}
        />
      )}
    </Group>
  );
}

/** What the grant covers now: clusters by their list; topics or groups when one cluster is meant. */
function Preview({ grant }: { grant: Grant }) {
  const { data } = useOverview();
  const clusters = data?.parts.clusters.data;
  if (!clusters) return <span className="ps-muted">{say.whatItCoversNowIs}</span>;
  const meant = clusters.filter((cluster) => covers(grant.clusters, cluster.name));
  const only = meant.length === 1 ? meant[0] : undefined;
  if (only && grant.over !== "cluster") return <NamesOn cluster={only} grant={grant} />;
  return (
    <span className="ps-muted">
      {found(
        meant.map((cluster) => cluster.name),
        "cluster",
      )}
    </span>
  );
}

function NamesOn({ cluster, grant }: { cluster: Cluster; grant: Grant }) {
  const blanks = { cluster_id: cluster.id };
  const query = { page_size: READ_MAX };
  const { data, isError } = useQuery<{ names: string[]; isWhole: boolean }>({
    queryKey: ["names", cluster.id, grant.over],
    queryFn: async ({ signal }) => {
      if (grant.over === "topic") {
        const read = await api.get("/api/v1/clusters/{cluster_id}/topics", { blanks, query, signal });
        return { names: read.data.map((row) => row.name), isWhole: !read.page.has_more };
      }
      const read = await api.get("/api/v1/clusters/{cluster_id}/groups", { blanks, query, signal });
      return { names: read.data.map((row) => row.group), isWhole: !read.page.has_more };
    },
    staleTime: 30_000,
    retry: false,
  });
  if (isError) return <span className="ps-muted">{say.whatItCoversOnNow(cluster.name)}</span>;
  if (!data) return null;
  const covered = data.names.filter((name) => covers(grant.names, name));
  const of = data.isWhole ? "" : say.lookedAtTheFirstOnly(READ_MAX);
  return (
    <span className="ps-muted">
      {found(covered, grant.over)} {of}
    </span>
  );
}

/** "Now 3 topics: a, b, c." */
function found(names: string[], thing: Grant["over"]): string {
  if (names.length === 0) return say.nowNone[thing];
  const listed = names.slice(0, SHOWN_MAX).join(", ");
  const more = names.length > SHOWN_MAX ? say.andMore(listed, names.length - SHOWN_MAX) : listed;
  return say.nowSome[thing](names.length, more);
}
