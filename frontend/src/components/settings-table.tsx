import { Switch } from "@mantine/core";
import { useState } from "react";
import { exactValue } from "@/lib/config-values";
import { formatBytes, formatDurationMs, plural } from "@/lib/format";
import type { ConfigEntry } from "@/lib/types";
import { Breakable } from "./breakable";
import { Empty } from "./empty";
import { ScrollBox } from "./scroll-box";
import { SearchBox } from "./search-box";

/** Where Kafka says that a value comes from. */
const SOURCES: Record<string, string> = {
  DYNAMIC_BROKER_CONFIG: "set on this broker while it runs",
  DYNAMIC_DEFAULT_BROKER_CONFIG: "set on all brokers while they run",
  DYNAMIC_BROKER_LOGGER_CONFIG: "set on this broker's logger",
  STATIC_BROKER_CONFIG: "the broker's file",
  DEFAULT_CONFIG: "default",
};

/** "604800000" → "7d", by the unit in the key's own name; null where the number says as much. */
function inWords(name: string, value: string | null): string | null {
  const number = Number(value);
  if (value === null || value === "" || Number.isNaN(number) || number < 1000) return null;
  if (name.endsWith(".ms")) return number >= 9e18 ? "no limit" : formatDurationMs(number);
  if (name.endsWith(".bytes")) return number >= 9e18 ? "no limit" : formatBytes(number);
  return null;
}

interface SettingsTableProps {
  settings: ConfigEntry[];
  search: string;
  onSearch: (text: string) => void;
}

/** Settings to look at: each with its value, where that comes from, and whether it can change while the broker runs. */
export function SettingsTable({ settings, search, onSearch }: SettingsTableProps) {
  const [onlySet, setOnlySet] = useState(false);
  const wanted = search.trim().toLowerCase();
  const rows = settings.filter(
    (entry) =>
      (entry.name.toLowerCase().includes(wanted) || (entry.value ?? "").toLowerCase().includes(wanted)) &&
      (!onlySet || !entry.is_default),
  );
  return (
    <>
      <div className="ps-toolbar">
        <SearchBox value={search} label="Search settings" onChange={onSearch} />
        <Switch
          size="xs"
          label="Only what is not the default"
          checked={onlySet}
          onChange={(event) => setOnlySet(event.currentTarget.checked)}
        />
        <span className="ps-muted" style={{ marginLeft: "auto", fontSize: "0.75rem" }} role="status">
          {plural(rows.length, "setting")}
        </span>
      </div>
      {rows.length === 0 ? (
        <Empty title="Nothing matches" />
      ) : (
        <ScrollBox label="Settings">
          <table className="ps-table" aria-label="Settings">
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Value</th>
                <th scope="col" className="ps-hide-sm">
                  Comes from
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((entry) => (
                <SettingRow key={entry.name} entry={entry} />
              ))}
            </tbody>
          </table>
        </ScrollBox>
      )}
    </>
  );
}

function SettingRow({ entry }: { entry: ConfigEntry }) {
  const words = inWords(entry.name, entry.value);
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
        <span className="ps-mono">
          {entry.sensitive ? "hidden" : <Breakable text={entry.value ?? ""} />}
          {!entry.sensitive && !entry.value && <span className="ps-muted">not set</span>}
        </span>
        {words && (
          <span className="ps-muted" title={exactValue(entry.name, entry.value ?? "")}>
            {" "}
            {words}
          </span>
        )}
      </td>
      <td className="ps-hide-sm ps-muted" style={{ minWidth: 170 }}>
        {SOURCES[entry.source] ?? entry.source.toLowerCase().replaceAll("_", " ")}
        {entry.read_only && <div style={{ fontSize: "0.75rem" }}>changes with a restart</div>}
      </td>
    </tr>
  );
}
