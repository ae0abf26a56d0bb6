import { Switch } from "@mantine/core";
import { useState } from "react";
import { exactValue } from "@/lib/config-values";
import { formatBytes, formatDurationMs } from "@/lib/format";
import type { ConfigEntry } from "@/lib/types";
import { words } from "@/words/plans";
import { Breakable } from "./breakable";
import { Empty } from "./empty";
import { ScrollBox } from "./scroll-box";
import { SearchBox } from "./search-box";

const say = words.settingsTable;

/** Where Kafka says that a value comes from. */
const SOURCES: Record<string, string> = {
  DYNAMIC_BROKER_CONFIG: say.setOnThisBrokerWhile,
  DYNAMIC_DEFAULT_BROKER_CONFIG: say.setOnAllBrokersWhile,
  DYNAMIC_BROKER_LOGGER_CONFIG: say.setOnThisBrokersLogger,
  STATIC_BROKER_CONFIG: say.theBrokersFile,
  DEFAULT_CONFIG: say.defaultWord,
};

/** "604800000" → "7d", by the unit in the key's own name; null where the number says as much. */
function inWords(name: string, value: string | null): string | null {
  const number = Number(value);
  if (value === null || value === "" || Number.isNaN(number) || number < 1000) return null;
  if (name.endsWith(".ms")) return number >= 9e18 ? say.noLimit : formatDurationMs(number);
  if (name.endsWith(".bytes")) return number >= 9e18 ? say.noLimit : formatBytes(number);
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
        <SearchBox value={search} label={say.searchSettings} onChange={onSearch} />
        <Switch
          size="xs"
          label={say.onlyWhatIsNotThe}
          checked={onlySet}
          onChange={(event) => setOnlySet(event.currentTarget.checked)}
        />
        <span className="ps-muted" style={{ marginLeft: "auto", fontSize: "0.75rem" }} role="status">
          {say.settings(rows.length)}
        </span>
      </div>
      {rows.length === 0 ? (
        <Empty title={say.nothingMatches} />
      ) : (
        <ScrollBox label={say.settings2}>
          <table className="ps-table" aria-label={say.settings2}>
            <thead>
              <tr>
                <th scope="col">{say.key}</th>
                <th scope="col">{say.value}</th>
                <th scope="col" className="ps-hide-sm">
                  {say.comesFrom}
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
          {entry.sensitive ? say.hidden : <Breakable text={entry.value ?? ""} />}
          {!entry.sensitive && !entry.value && <span className="ps-muted">{say.notSet}</span>}
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
        {entry.read_only && <div style={{ fontSize: "0.75rem" }}>{say.changesWithARestart}</div>}
      </td>
    </tr>
  );
}
