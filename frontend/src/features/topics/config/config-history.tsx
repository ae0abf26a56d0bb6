import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Breakable } from "@/components/breakable";
import { ConfigValue } from "@/components/config-value";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { Notice } from "@/components/notice";
import { actorName } from "@/components/operation-list";
import { RelTime } from "@/components/rel-time";
import { isKind, kindLabel } from "@/lib/kinds";
import { type ConfigChange, type HistoryRow, useConfigHistory } from "@/lib/topic-history";
import type { ConfigEntry } from "@/lib/types";
import { words } from "@/words/topic-settings";
import type { Changes } from "./edits";

const say = words.configHistory;

interface ConfigHistoryProps {
  clusterId: string;
  topic: string;
  /** As it is now: what is so already needs no way back. */
  configs: ConfigEntry[] | null;
  /** Plans to put settings back; without it nobody may. */
  onPutBack?: (changes: Changes) => void;
}

/** Who changed which setting, when, from what to what, and the way back. */
export function ConfigHistory({ clusterId, topic, configs, onPutBack }: ConfigHistoryProps) {
  const query = useConfigHistory(clusterId, topic);
  return (
    <ListView query={query}>
      {(rows) =>
        rows.length === 0 ? (
          <Empty title={say.noChangeOnRecord}>{say.whatAppearsHere}</Empty>
        ) : (
          <>
            <div className="ps-table-wrap">
              <table className="ps-table" aria-label={say.configurationHistory}>
                <thead>
                  <tr>
                    <th scope="col">{say.when}</th>
                    <th scope="col">{say.by}</th>
                    <th scope="col">{say.beforeAndAfter}</th>
                    {onPutBack && (
                      <th scope="col">
                        <span className="ps-sr">{say.putBack}</span>
                      </th>
                    )}
                  </tr>
                </thead>
                <tbody>
                  {rows.map((row) => (
                    <Row key={row.operation_id} row={row} configs={configs} onPutBack={onPutBack} />
                  ))}
                </tbody>
              </table>
            </div>
            {query.data?.complete === false && (
              <div className="ps-card-body">
                <Notice tone="info">{say.olderChanges}</Notice>
              </div>
            )}
          </>
        )
      }
    </ListView>
  );
}

function Row({ row, configs, onPutBack }: { row: HistoryRow } & Pick<ConfigHistoryProps, "configs" | "onPutBack">) {
  const canGoBack =
    row.kind !== "topic.create" && configs !== null && row.changes.some((each) => differs(each, configs));
  return (
    <tr>
      <td style={{ whiteSpace: "nowrap" }}>
        <RelTime at={row.at} />
      </td>
      <td>
        {actorName(row.actor)}
        <div style={{ fontSize: "0.75rem" }}>
          <Link to="/operations/$operationId" params={{ operationId: row.operation_id }} className="ps-link">
            {isKind(row.kind) ? kindLabel(row.kind) : row.kind}
          </Link>
          {row.undone_by && <span className="ps-muted">{say.undone}</span>}
        </div>
        {row.reason && <div className="ps-muted">{row.reason}</div>}
      </td>
      <td>
        {row.changes.map((change) => (
          <div key={change.key}>
            <span className="ps-mono">
              <Breakable text={change.key} />
            </span>
            : <ConfigValue name={change.key} value={change.effective_before} isDefault={change.before === null} />
            <span className="ps-arrow">→</span>
            <ConfigValue name={change.key} value={change.effective_after} isDefault={change.after === null} />
          </div>
        ))}
      </td>
      {onPutBack && (
        <td style={{ textAlign: "right" }}>
          {canGoBack && (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={say.putBackBefore(row.operation_id)}
              onClick={() => onPutBack(Object.fromEntries(row.changes.map(({ key, before }) => [key, before])))}
            >
              {say.putBack}
            </Button>
          )}
        </td>
      )}
    </tr>
  );
}

/** Whether what the topic sets itself now is another thing than before this change. */
function differs({ key, before }: ConfigChange, configs: ConfigEntry[]): boolean {
  const entry = configs.find((one) => one.name === key);
  return (entry === undefined || entry.is_default ? null : entry.value) !== before;
}
