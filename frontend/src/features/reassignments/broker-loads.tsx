import { BrokerLink } from "@/components/broker-link";
import { Metered } from "@/components/metered";
import { Quantity } from "@/components/quantity";
import { formatInteger } from "@/lib/format";
import type { BrokerLoad } from "@/lib/types";
import { words } from "@/words/reassignments";

const say = words.brokerLoads;

/** What every broker carries before anything moves. */
export function BrokerLoads({ clusterId, loads }: { clusterId: string; loads: BrokerLoad[] }) {
  const top = Math.max(1, ...loads.map((load) => load.size_bytes ?? 0));
  return (
    <table className="ps-table" aria-label={say.loadOfTheBrokers}>
      <thead>
        <tr>
          <th scope="col">{say.broker}</th>
          <th scope="col" data-align="right">
            {say.leads}
          </th>
          <th scope="col" data-align="right">
            {say.replicas}
          </th>
          <th scope="col" data-align="right">
            {say.data}
          </th>
        </tr>
      </thead>
      <tbody>
        {loads.map((load) => (
          <tr key={load.id}>
            <td>
              <BrokerLink clusterId={clusterId} id={load.id}>
                {load.id}
              </BrokerLink>
            </td>
            <td data-align="right">{formatInteger(load.leaders)}</td>
            <td data-align="right">{formatInteger(load.replicas)}</td>
            <td data-align="right">
              <Metered share={(load.size_bytes ?? 0) / top}>
                <Quantity of="bytes" value={load.size_bytes} />
              </Metered>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
