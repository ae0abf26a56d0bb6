import { Stack } from "@mantine/core";
import type { components } from "@/generated/api";
import { words } from "@/words/rolls";
import { Breakable } from "../breakable";
import { RollDiff } from "./roll-diff";

const say = words.addressDiff;

/** What each broker advertises before and afterwards, and what clients are given to begin with. */
export function AddressDiff({ diff }: { diff: components["schemas"]["ChangeAddressesDiff"] }) {
  return (
    <Stack gap="sm">
      <div className="ps-card">
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label={say.addresses}>
            <thead>
              <tr>
                <th scope="col">{say.broker}</th>
                <th scope="col">{say.from}</th>
                <th scope="col">{say.to}</th>
              </tr>
            </thead>
            <tbody>
              {diff.brokers.map((broker) => (
                <tr key={broker.id}>
                  <td className="ps-tnum">{broker.id}</td>
                  <td className="ps-mono ps-diff-del">
                    <Breakable text={broker.from_address} />
                  </td>
                  <td className="ps-mono ps-diff-add">
                    <Breakable text={broker.to_address} />
                    {broker.renews_certificate && <span className="ps-muted"> ({say.certificate})</span>}
                  </td>
                </tr>
              ))}
              {diff.bootstrap_before !== diff.bootstrap_after && (
                <tr>
                  <td>{say.clients}</td>
                  <td className="ps-mono ps-diff-del">
                    <Breakable text={diff.bootstrap_before} />
                  </td>
                  <td className="ps-mono ps-diff-add">
                    <Breakable text={diff.bootstrap_after} />
                  </td>
                </tr>
              )}
            </tbody>
          </table>
        </div>
      </div>
      {diff.brokers.length > 0 && <RollDiff diff={diff} />}
    </Stack>
  );
}
