import { Stack } from "@mantine/core";
import type { ConfigureDiffData } from "@/lib/types";
import { words } from "@/words/rolls";
import { Breakable } from "../breakable";
import { RollDiff } from "./roll-diff";

const say = words.configureDiff;

/** Settings of all brokers before and after, the way that each goes, and who is restarted for it. */
export function ConfigureDiff({ diff }: { diff: ConfigureDiffData }) {
  return (
    <Stack gap="sm">
      <div className="ps-card">
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label={say.changes}>
            <thead>
              <tr>
                <th scope="col">{say.setting}</th>
                <th scope="col">{say.before}</th>
                <th scope="col">{say.after}</th>
                <th scope="col">{say.way}</th>
              </tr>
            </thead>
            <tbody>
              {diff.changes.map((row) => (
                <tr key={row.key}>
                  <td className="ps-mono">
                    <Breakable text={row.key} />
                  </td>
                  <td className="ps-mono ps-diff-del">{row.before ?? <Unset now={row.now} />}</td>
                  <td className="ps-mono ps-diff-add">{row.after ?? <Unset now={null} />}</td>
                  <td>{say.ways[row.way]}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
      {diff.brokers.length > 0 && <RollDiff diff={diff} />}
    </Stack>
  );
}

function Unset({ now }: { now: string | null }) {
  return <span className="ps-muted">{now === null ? say.notSet : say.notSetSo(now)}</span>;
}
