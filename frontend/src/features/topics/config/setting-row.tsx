import { ActionIcon, Tooltip } from "@mantine/core";
import { IconArrowBackUp, IconPencil, IconX } from "@tabler/icons-react";
import { useEffect, useRef } from "react";
import { TOPIC_SETTINGS, type TopicSetting } from "@/generated/settings";
import { Breakable } from "@/components/breakable";
import { ConfigValue } from "@/components/config-value";
import { unitOf } from "@/lib/config-values";
import type { ConfigEntry } from "@/lib/types";
import { words } from "@/words/topic-settings";
import { isEditable } from "./edits";
import { SettingInput } from "./setting-input";

const say = words.settingRow;

const SOURCES: Record<string, string> = {
  TOPIC_CONFIG: say.thisTopic,
  DYNAMIC_TOPIC_CONFIG: say.thisTopic,
  DYNAMIC_BROKER_CONFIG: say.brokerDynamic,
  DYNAMIC_DEFAULT_BROKER_CONFIG: say.clusterDynamic,
  STATIC_BROKER_CONFIG: say.brokerFile,
  DEFAULT_CONFIG: say.byDefault,
};
const TYPES: Record<string, string> = {
  INT: say.wholeNumber,
  SHORT: say.wholeNumber,
  LONG: say.wholeNumber,
  DOUBLE: say.anyNumber,
};
const UNITS = { ms: say.milliseconds, bytes: say.bytes } as const;
/** Bounds that are only those of the type say nothing. */
const OF_THE_TYPE = new Set(["-2147483648", "2147483647", "-9223372036854775808", "9223372036854775807"]);

/** What a setting may be, in words: "milliseconds, at least -1". */
export function allowedWords(name: string, { type, choices, lowest, highest }: TopicSetting): string {
  if (type === "BOOLEAN") return say.trueOrFalse;
  if (choices.length > 0) return (type === "LIST" ? say.oneOrMoreOf : say.oneOf)(choices.join(", "));
  const unit = unitOf(name);
  const what = unit && TYPES[type] ? UNITS[unit] : (TYPES[type] ?? say.text);
  const [least, most] = [lowest, highest].map((bound) => (bound !== null && !OF_THE_TYPE.has(bound) ? bound : null));
  if (least && most) return say.atLeastAndAtMost(what, least, most);
  if (least) return say.atLeast(what, least);
  return most ? say.atMost(what, most) : what;
}

interface SettingRowProps {
  entry: ConfigEntry;
  /** What is typed; null: back to the default; undefined: nothing is changed. */
  edit: string | null | undefined;
  problem: string | undefined;
  canEdit: boolean;
  onEdit: (name: string, text: string | null) => void;
  onDrop: (name: string) => void;
}

/** One setting: what it means and may be, what it is and where that comes from, and its input while it is changed. */
export function SettingRow({ entry, edit, problem, canEdit, onEdit, onDrop }: SettingRowProps) {
  const { name } = entry;
  const setting = Object.hasOwn(TOPIC_SETTINGS, name) ? TOPIC_SETTINGS[name] : undefined;
  const doc = entry.doc || setting?.doc;
  const field = useRef<HTMLTableCellElement>(null);
  const isWanted = useRef(false);
  const isOpen = typeof edit === "string";
  // Whoever opens it goes on typing; one that was open before the page was left takes no focus.
  useEffect(() => {
    if (isOpen && isWanted.current) field.current?.querySelector<HTMLElement>("input, select")?.focus();
    isWanted.current = false;
  }, [isOpen]);
  const begin = (which: string, text: string | null) => {
    isWanted.current = text !== null;
    onEdit(which, text);
  };
  return (
    <tr data-edited={edit !== undefined}>
      <td>
        <div className="ps-mono" style={{ fontWeight: entry.is_default ? 400 : 620 }}>
          <Breakable text={name} />
        </div>
        {doc && <div className="ps-setting-doc">{doc}</div>}
        {setting && <div className="ps-setting-doc">{say.allowed(allowedWords(name, setting))}</div>}
      </td>
      <td ref={field} style={{ minWidth: 130 }}>
        {setting && typeof edit === "string" ? (
          <SettingInput
            name={name}
            setting={setting}
            text={edit}
            problem={problem}
            onType={(text) => onEdit(name, text)}
          />
        ) : (
          <>
            <span className="ps-mono" style={edit === null ? { textDecoration: "line-through" } : undefined}>
              {entry.sensitive ? (
                say.hidden
              ) : entry.value === null || entry.value === "" ? (
                <span className="ps-muted">{say.notSet}</span>
              ) : (
                <ConfigValue name={name} value={entry.value} />
              )}
            </span>
            {edit === null && <span className="ps-warn"> {say.willBeTheDefault}</span>}
            {edit === null && problem && <div className="ps-bad">{problem}</div>}
          </>
        )}
      </td>
      <td className="ps-hide-sm ps-muted">
        {SOURCES[entry.source] ?? entry.source.toLowerCase().replaceAll("_", " ")}
      </td>
      {canEdit && (
        <td style={{ textAlign: "right", whiteSpace: "nowrap" }}>
          <RowActions entry={entry} edited={edit !== undefined} onEdit={begin} onDrop={onDrop} />
        </td>
      )}
    </tr>
  );
}

function RowActions({
  entry,
  edited,
  onEdit,
  onDrop,
}: Pick<SettingRowProps, "entry" | "onEdit" | "onDrop"> & { edited: boolean }) {
  const { name } = entry;
  if (edited)
    return (
      <ActionIcon size="sm" aria-label={say.keepAsItIs(name)} onClick={() => onDrop(name)}>
        <IconX size={15} />
      </ActionIcon>
    );
  if (!isEditable(entry)) return null;
  return (
    <>
      {!entry.is_default && (
        <Tooltip label={say.backToTheDefault}>
          <ActionIcon size="sm" aria-label={say.reset(name)} onClick={() => onEdit(name, null)}>
            <IconArrowBackUp size={15} />
          </ActionIcon>
        </Tooltip>
      )}
      <ActionIcon size="sm" aria-label={say.edit(name)} onClick={() => onEdit(name, entry.value ?? "")}>
        <IconPencil size={15} />
      </ActionIcon>
    </>
  );
}
