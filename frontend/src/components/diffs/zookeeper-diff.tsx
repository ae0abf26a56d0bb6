import { Stack } from "@mantine/core";
import type { components } from "@/generated/api";
import { words } from "@/words/rolls";
import { Breakable } from "../breakable";
import { RollDiff } from "./roll-diff";

const say = words.zookeeperDiff;

/** That the ensemble stays, and the order in which brokers go over. Connect strings are operators' to read, with the hosts. */
export function ZooKeeperDiff({ diff }: { diff: components["schemas"]["ChangeZooKeeperDiff"] }) {
  return (
    <Stack gap="sm">
      <div className="ps-card">
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label={say.title}>
            <tbody>
              <tr>
                <th scope="row">{say.ensemble}</th>
                <td>
                  <span className="ps-mono">
                    <Breakable text={diff.ensemble} />
                  </span>{" "}
                  <span className="ps-muted">{say.stays}</span>
                </td>
              </tr>
              <tr>
                <th scope="row">{say.strings}</th>
                <td>{say.become(diff.strings_before)}</td>
              </tr>
            </tbody>
          </table>
        </div>
      </div>
      {diff.brokers.length > 0 && <RollDiff diff={diff} />}
    </Stack>
  );
}
