import type { AddBrokersDiffData, RemoveBrokersDiffData } from "@/lib/types";
import { words } from "@/words/scaling";

/** Where new brokers go and why, and which defaults are written down for it. */
export function AddBrokersDiff({ diff }: { diff: AddBrokersDiffData }) {
  const say = words.addDiff;
  const kept = Object.entries(diff.settings_kept);
  return (
    <div className="ps-card">
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={say.newBrokers}>
          <thead>
            <tr>
              <th scope="col">{say.broker}</th>
              <th scope="col">{say.rack}</th>
              <th scope="col">{say.address}</th>
              <th scope="col">{say.why}</th>
            </tr>
          </thead>
          <tbody>
            {diff.brokers.map((broker) => (
              <tr key={broker.broker_id}>
                <td>{broker.broker_id}</td>
                <td>{broker.rack || <span className="ps-muted">–</span>}</td>
                <td className="ps-mono">
                  {broker.address}:{broker.client_port}
                </td>
                <td>{broker.reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {kept.length > 0 && (
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label={say.settingsKept}>
            <caption className="ps-muted" style={{ textAlign: "left", padding: "8px 12px" }}>
              {say.settingsKept}
            </caption>
            <thead>
              <tr>
                <th scope="col">{say.setting}</th>
                <th scope="col">{say.value}</th>
              </tr>
            </thead>
            <tbody>
              {kept.map(([key, value]) => (
                <tr key={key}>
                  <td className="ps-mono">{key}</td>
                  <td className="ps-mono">{value}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p className="ps-card-body ps-muted">{say.fromTo(diff.count_before, diff.count_after)}</p>
    </div>
  );
}

/** Which brokers go, in which order. */
export function RemoveBrokersDiff({ diff }: { diff: RemoveBrokersDiffData }) {
  const say = words.removeDiff;
  return (
    <div className="ps-card">
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={say.brokersThatGo}>
          <thead>
            <tr>
              <th scope="col" data-align="right">
                {say.turn}
              </th>
              <th scope="col">{say.broker}</th>
              <th scope="col">{say.rack}</th>
              <th scope="col">{say.address}</th>
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
                <td>{broker.rack || <span className="ps-muted">–</span>}</td>
                <td className="ps-mono">
                  {broker.address}:{broker.client_port}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="ps-card-body ps-muted">{say.fromTo(diff.count_before, diff.count_after)}</p>
    </div>
  );
}
