import { Button, Group, NumberInput, Select, TextInput } from "@mantine/core";
import { IconPlayerStop, IconSearch } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { ISOLATIONS, MESSAGE_FORMATS, MESSAGE_STARTS, type MessageSearch } from "@/lib/search";
import { words } from "@/words/messages";

const say = words.searchForm;

const STARTS: Record<(typeof MESSAGE_STARTS)[number], string> = say.starts;
const FORMATS: Record<(typeof MESSAGE_FORMATS)[number], string> = words.formats;
const MODES = [
  { value: "newest", label: say.newestFirst },
  { value: "oldest", label: say.oldestFirst },
  { value: "tail", label: say.liveTail },
];
const ISOLATION_LABELS: Record<(typeof ISOLATIONS)[number], string> = say.isolations;
export const formatChoices = MESSAGE_FORMATS.map((value) => ({ value, label: FORMATS[value] }));

/** A moment as the field wants it: local time, to the second. */
function local(iso: string | undefined): string {
  if (!iso) return "";
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** What runs when the form says so: newest first from the end, oldest first from anywhere else. */
export const modeOf = (search: MessageSearch): string =>
  search.tail ? "tail" : (search.order ?? ((search.from ?? "end") === "end" ? "newest" : "oldest"));

interface SearchFormProps {
  search: MessageSearch;
  busy: boolean;
  /** Faults that the service found, by field. */
  faults: Record<string, string>;
  onSearch: (search: MessageSearch) => void;
  onCancel: () => void;
}

export function SearchForm({ search, busy, faults, onSearch, onCancel }: SearchFormProps) {
  const [form, setForm] = useState<MessageSearch>(search);
  const [before, setBefore] = useState(search);
  // Going back in the browser's history shows what was looked for then.
  if (JSON.stringify(before) !== JSON.stringify(search)) {
    setBefore(search);
    setForm(search);
  }
  const change = (part: Partial<MessageSearch>) => setForm((old) => ({ ...old, ...part }));
  const from = form.from ?? "end";
  const mode = modeOf(form);
  const chooseStart = (next: MessageSearch["from"]) =>
    change({
      from: next,
      offset: next === "offset" ? (form.offset ?? 0) : undefined,
      time: next === "time" ? (form.time ?? new Date(Date.now() - 3_600_000).toISOString()) : undefined,
      order: next === "beginning" && mode === "newest" ? "oldest" : form.order,
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSearch(form);
  };
  const text = (name: "key" | "value" | "header" | "filter" | "partitions", label: string, placeholder: string) => (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={form[name] ?? ""}
      onChange={(event) => change({ [name]: event.currentTarget.value || undefined })}
      error={faults[name]}
      spellCheck={false}
      autoComplete="off"
    />
  );
  return (
    <form onSubmit={submit} aria-label={say.whatToLookFor}>
      <div className="ps-message-form">
        <Select
          label={say.show}
          data={MODES.map((item) => ({ ...item, disabled: item.value === "newest" && from === "beginning" }))}
          value={mode}
          allowDeselect={false}
          onChange={(next) =>
            change(
              next === "tail"
                ? { tail: true, order: undefined }
                : { tail: undefined, order: next === "oldest" ? "oldest" : "newest" },
            )
          }
          error={faults.order}
        />
        <Select
          label={say.startAt}
          data={MESSAGE_STARTS.map((value) => ({ value, label: STARTS[value] }))}
          value={from}
          allowDeselect={false}
          onChange={(next) => chooseStart(MESSAGE_STARTS.find((item) => item === next))}
          error={faults.from}
        />
        {from === "offset" && (
          <NumberInput
            label={say.offset}
            min={0}
            allowDecimal={false}
            value={form.offset ?? 0}
            onChange={(next) => change({ offset: Number(next) })}
            error={faults.offset}
          />
        )}
        {from === "time" && (
          <TextInput
            type="datetime-local"
            step={1}
            label={say.timeOfThisZone}
            value={local(form.time)}
            onChange={(event) => {
              const at = new Date(event.currentTarget.value);
              if (!Number.isNaN(at.getTime())) change({ time: at.toISOString() });
            }}
            error={faults.time}
          />
        )}
        {text("partitions", say.partitions, say.allOrSome)}
        {text("key", say.keyContains, say.any)}
        {text("value", say.valueContains, say.any)}
        {text("header", say.header, say.nameOrValue)}
        <Select
          label={say.keyAs}
          data={formatChoices}
          value={form.key_format ?? "auto"}
          allowDeselect={false}
          onChange={(next) => change({ key_format: MESSAGE_FORMATS.find((item) => item === next && item !== "auto") })}
        />
        <Select
          label={say.valueAs}
          data={formatChoices}
          value={form.value_format ?? "auto"}
          allowDeselect={false}
          onChange={(next) =>
            change({ value_format: MESSAGE_FORMATS.find((item) => item === next && item !== "auto") })
          }
        />
        <Select
          label={say.transactions}
          data={ISOLATIONS.map((value) => ({ value, label: ISOLATION_LABELS[value] }))}
          value={form.isolation ?? "read_uncommitted"}
          allowDeselect={false}
          onChange={(next) => change({ isolation: next === "read_committed" ? next : undefined })}
          error={faults.isolation}
          title={say.isolationsExplained}
        />
        <div className="ps-message-filter">{text("filter", say.expression, say.expressionExample)}</div>
        <Group gap={8} align="end">
          <Button type="submit" leftSection={<IconSearch size={15} />}>
            {mode === "tail" ? say.follow : say.search}
          </Button>
          {busy && (
            <Button variant="default" leftSection={<IconPlayerStop size={15} />} onClick={onCancel}>
              {say.cancel}
            </Button>
          )}
        </Group>
      </div>
    </form>
  );
}
