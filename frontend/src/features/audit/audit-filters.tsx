import { Autocomplete, Button, Select, TextInput } from "@mantine/core";
import {
  ACTION_BEGINNINGS,
  ACTOR_BEGINNINGS,
  isFiltered,
  OUTCOMES,
  outcomeWords,
  RESOURCE_BEGINNINGS,
} from "@/lib/audit";
import type { AuditLast, AuditSearch } from "@/lib/search";
import { useOverview } from "@/lib/use-clusters";
import { useTypedText } from "@/lib/use-typed-text";
import { words } from "@/words/audit";

const say = words.auditFilters;

/** Pause after the last key before the server is asked, ms. */
const PAUSE_MS = 400;
const DAY_MS = 24 * 3600 * 1000;
const BETWEEN = say.between;
const TIMES = [
  { value: "", label: say.anyTime },
  { value: "1h", label: say.theLastHour },
  { value: "24h", label: say.theLast24Hours },
  { value: "7d", label: say.theLast7Days },
  { value: "30d", label: say.theLast30Days },
  { value: BETWEEN, label: say.between2 },
];

interface AuditFiltersProps {
  search: AuditSearch;
  /** Actors of the rows that are shown, offered while one is typed. */
  actors: string[];
  onChange: (change: AuditSearch) => void;
}

/** What to look for. The server compares, so that it is found whatever is loaded. */
export function AuditFilters({ search, actors, onChange }: AuditFiltersProps) {
  const { data } = useOverview();
  const clusters = (data?.parts.clusters.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const known = search.cluster === undefined || clusters.some(({ value }) => value === search.cluster);
  const time = search.from || search.to ? BETWEEN : (search.last ?? "");
  const choose = (value: string) =>
    onChange({
      last: value === BETWEEN || value === "" ? undefined : (value as AuditLast),
      from: value === BETWEEN ? new Date(Date.now() - DAY_MS).toISOString() : undefined,
      to: undefined,
    });
  return (
    <search className="ps-filters" aria-label={say.filtersOfTheAudit}>
      <Beginning
        label={say.who}
        placeholder={say.userAda}
        value={search.actor}
        offered={[...new Set([...ACTOR_BEGINNINGS, ...actors])]}
        onChange={(actor) => onChange({ actor })}
      />
      <Beginning
        label={say.action}
        placeholder={say.topicDelete}
        value={search.action}
        offered={ACTION_BEGINNINGS}
        onChange={(action) => onChange({ action })}
      />
      <Beginning
        label={say.resource}
        placeholder={say.topicTeamA}
        value={search.resource}
        offered={RESOURCE_BEGINNINGS}
        onChange={(resource) => onChange({ resource })}
      />
      <Choice
        label={say.outcome}
        value={search.outcome ?? ""}
        data={[
          { value: "", label: say.any },
          ...withOwn(OUTCOMES, search.outcome).map((value) => ({ value, label: outcomeWords(value) })),
        ]}
        onChange={(outcome) => onChange({ outcome: outcome || undefined })}
      />
      <Choice
        label={say.cluster}
        value={search.cluster ?? ""}
        data={[
          { value: "", label: say.any },
          ...clusters,
          ...(known ? [] : [{ value: search.cluster ?? "", label: search.cluster ?? "" }]),
        ]}
        onChange={(cluster) => onChange({ cluster: cluster || undefined })}
      />
      <Choice label={say.when} value={time} data={TIMES} onChange={choose} />
      {time === BETWEEN && (
        <>
          <Moment label={say.from} value={search.from} onChange={(from) => onChange({ from })} />
          <Moment label={say.before} value={search.to} onChange={(to) => onChange({ to })} />
        </>
      )}
      {isFiltered(search) && (
        <Button variant="subtle" size="xs" style={{ alignSelf: "end" }} onClick={() => onChange(NOTHING)}>
          {say.clearFilters}
        </Button>
      )}
    </search>
  );
}

export const NOTHING: AuditSearch = {
  actor: undefined,
  action: undefined,
  resource: undefined,
  outcome: undefined,
  cluster: undefined,
  last: undefined,
  from: undefined,
  to: undefined,
};

/** What a link may ask for is shown, known here or not. */
const withOwn = (known: string[], own: string | undefined) =>
  own === undefined || known.includes(own) ? known : [...known, own];

interface BeginningProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  offered: string[];
  onChange: (value: string | undefined) => void;
}

function Beginning({ label, placeholder, value, offered, onChange }: BeginningProps) {
  const [text, change] = useTypedText(value ?? "", (typed) => onChange(typed || undefined), PAUSE_MS);
  return (
    <Autocomplete
      label={say.beginsWith(label)}
      size="xs"
      limit={12}
      maxLength={400}
      autoComplete="off"
      placeholder={placeholder}
      data={offered}
      value={text}
      onChange={change}
    />
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  data: (string | { value: string; label: string })[];
  onChange: (value: string) => void;
}

function Choice({ label, value, data, onChange }: ChoiceProps) {
  return (
    <Select
      label={label}
      size="xs"
      allowDeselect={false}
      data={data}
      value={value}
      onChange={(next) => next !== null && onChange(next)}
    />
  );
}

/** A moment by the reader's own clock; the URL and the server have it in UTC. */
function Moment({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  return (
    <TextInput
      type="datetime-local"
      label={label}
      size="xs"
      value={localOf(value)}
      onChange={(event) => onChange(utcOf(event.currentTarget.value))}
    />
  );
}

/** "2026-11-22T10:05" by the local clock; empty for none. */
function localOf(moment: string | undefined): string {
  if (moment === undefined) return "";
  const at = new Date(moment);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function utcOf(local: string): string | undefined {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
