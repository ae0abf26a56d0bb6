import { ActionIcon, Button, Group, Switch, TextInput, Tooltip } from "@mantine/core";
import { IconArrowBackUp, IconPencil, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { Breakable } from "@/components/breakable";
import { Empty } from "@/components/empty";
import { SearchBox } from "@/components/search-box";
import { formatBytes, formatDurationMs, plural } from "@/lib/format";
import type { ConfigEntry, PlanInputs } from "@/lib/types";

type Edits = PlanInputs<"topic.update">["configs"];

/** "604800000" → "7d", by the unit in the key's own name. */
function humane(name: string, value: string | null): string | null {
  const number = Number(value);
  if (value === null || value === "" || Number.isNaN(number)) return null;
  if (number === -1) return name.endsWith(".ms") || name.endsWith(".bytes") ? "no limit" : null;
  if (number < 0) return null;
  if (number >= 9e18) return "no limit";
  if (name.endsWith(".ms")) return formatDurationMs(number);
  if (name.endsWith(".bytes")) return formatBytes(number);
  return null;
}

interface ConfigTableProps {
  configs: ConfigEntry[];
  canEdit: boolean;
  onChange: (changes: Edits) => void;
}

/** All configuration of a topic; edits are collected, then planned together. */
export function ConfigTable({ configs, canEdit, onChange }: ConfigTableProps) {
  const [edits, setEdits] = useState<Edits>({});
  const [text, setText] = useState("");
  const [onlySet, setOnlySet] = useState(false);
  const rows = configs
    .filter(
      (entry) => entry.name.includes(text.toLowerCase()) && (!onlySet || !entry.is_default || entry.name in edits),
    )
    .sort((left, right) => Number(left.is_default) - Number(right.is_default) || left.name.localeCompare(right.name));
  const count = Object.keys(edits).length;
  const set = (name: string, value: string | null) => setEdits((old) => ({ ...old, [name]: value }));
  const drop = (name: string) =>
    setEdits((old) => Object.fromEntries(Object.entries(old).filter(([key]) => key !== name)));
  return (
    <>
      <div className="ps-toolbar">
        <SearchBox value={text} label="Search configuration" onChange={setText} />
        <Switch
          size="xs"
          label="Only what this topic sets"
          checked={onlySet}
          onChange={(event) => setOnlySet(event.currentTarget.checked)}
        />
        {count > 0 && (
          <Group gap={8} ml="auto">
            <Button variant="default" onClick={() => setEdits({})}>
              Discard
            </Button>
            <Button onClick={() => onChange(edits)}>Review {plural(count, "change")}</Button>
          </Group>
        )}
      </div>
      {rows.length === 0 ? (
        <Empty title="Nothing matches" />
      ) : (
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label="Configuration">
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Value</th>
                <th scope="col" className="ps-hide-sm">
                  Comes from
                </th>
                {canEdit && (
                  <th scope="col">
                    <span className="ps-sr">Edit</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {rows.map((entry) => (
                <ConfigRow
                  key={entry.name}
                  entry={entry}
                  edit={edits[entry.name]}
                  edited={entry.name in edits}
                  canEdit={canEdit}
                  onSet={set}
                  onDrop={drop}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

interface ConfigRowProps {
  entry: ConfigEntry;
  edit: string | null | undefined;
  edited: boolean;
  canEdit: boolean;
  onSet: (name: string, value: string | null) => void;
  onDrop: (name: string) => void;
}

const SOURCES: Record<string, string> = {
  TOPIC_CONFIG: "this topic",
  DYNAMIC_TOPIC_CONFIG: "this topic",
  DYNAMIC_BROKER_CONFIG: "broker, dynamic",
  DYNAMIC_DEFAULT_BROKER_CONFIG: "cluster, dynamic",
  STATIC_BROKER_CONFIG: "broker file",
  DEFAULT_CONFIG: "default",
};

function ConfigRow({ entry, edit, edited, canEdit, onSet, onDrop }: ConfigRowProps) {
  const hint = humane(entry.name, entry.value);
  // Kafka's largest number stands for "no limit"; its nineteen digits mean nothing to a reader.
  const unbounded = Number(entry.value) >= 9e18;
  return (
    <tr>
      <td>
        <div className="ps-mono" style={{ fontWeight: entry.is_default ? 400 : 620 }}>
          <Breakable text={entry.name} />
        </div>
        {entry.doc && (
          <div className="ps-muted ps-hide-sm" style={{ fontSize: "0.75rem", maxWidth: 560 }}>
            {entry.doc}
          </div>
        )}
      </td>
      <td style={{ minWidth: 150 }}>
        {edited && edit !== null ? (
          <TextInput
            size="xs"
            aria-label={`New value of ${entry.name}`}
            value={edit ?? ""}
            onChange={(event) => onSet(entry.name, event.currentTarget.value)}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          />
        ) : (
          <span
            className="ps-mono"
            title={unbounded ? (entry.value ?? undefined) : undefined}
            style={edited ? { textDecoration: "line-through" } : undefined}
          >
            {entry.sensitive ? "hidden" : unbounded ? null : entry.value || <span className="ps-muted">not set</span>}
          </span>
        )}
        {edited && edit === null && <span className="ps-warn"> back to the default</span>}
        {!edited && hint && hint !== entry.value && <span className="ps-muted"> {hint}</span>}
      </td>
      <td className="ps-hide-sm ps-muted">
        {SOURCES[entry.source] ?? entry.source.toLowerCase().replaceAll("_", " ")}
      </td>
      {canEdit && (
        <td style={{ textAlign: "right", whiteSpace: "nowrap" }}>
          {edited ? (
            <ActionIcon size="sm" aria-label={`Keep ${entry.name} as it is`} onClick={() => onDrop(entry.name)}>
              <IconX size={15} />
            </ActionIcon>
          ) : (
            !entry.read_only && (
              <>
                {!entry.is_default && (
                  <Tooltip label="Back to the default">
                    <ActionIcon size="sm" aria-label={`Reset ${entry.name}`} onClick={() => onSet(entry.name, null)}>
                      <IconArrowBackUp size={15} />
                    </ActionIcon>
                  </Tooltip>
                )}
                <ActionIcon
                  size="sm"
                  aria-label={`Edit ${entry.name}`}
                  onClick={() => onSet(entry.name, entry.value ?? "")}
                >
                  <IconPencil size={15} />
                </ActionIcon>
              </>
            )
          )}
        </td>
      )}
    </tr>
  );
}
