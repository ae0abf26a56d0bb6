import { formatInteger } from "@/lib/format";
import type { RollDiffData } from "@/lib/types";
import { words } from "@/words/rolls";
import { Quantity } from "../quantity";

const say = words.rollDiff;

/** The order in which brokers are restarted, and how long the first one is looked at. */
export function RollDiff({ diff }: { diff: RollDiffData }) {
  return (
    <div className="ps-card">
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={say.orderOfTheRoll}>
          <thead>
            <tr>
              <th scope="col" data-align="right">
                {say.turn}
              </th>
              <th scope="col">{say.broker}</th>
              <th scope="col">{say.host}</th>
              <th scope="col" data-align="right">
                {say.leads}
              </th>
              <th scope="col" data-align="right">
                {say.replicas}
              </th>
            </tr>
          </thead>
          <tbody>
            {diff.brokers.map((broker, index) => (
              <tr key={broker.id}>
                <td data-align="right">{index + 1}</td>
                <td>
                  {broker.id}
                  {broker.is_controller && <span className="ps-muted">{say.controller}</span>}
                  {!broker.is_up && <span className="ps-bad">{say.notUp}</span>}
                </td>
                <td>{broker.rack ? `${broker.host} (${broker.rack})` : broker.host}</td>
                <td data-align="right">{formatInteger(broker.leaders)}</td>
                <td data-align="right">{formatInteger(broker.replicas)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="ps-card-body ps-muted">
        {say.whoeverIsController}{" "}
        {diff.canary_s > 0 && diff.brokers.length > 1
          ? say.canary(<Quantity of="span" value={diff.canary_s} />)
          : say.noCanary}
      </p>
    </div>
  );
}
