import { Button, Group, NativeSelect } from "@mantine/core";
import { useState } from "react";
import { Notice } from "@/components/notice";
import { PlanFlow } from "@/components/plan-flow";
import { RelTime } from "@/components/rel-time";
import { Stats } from "@/components/stats";
import { kindLabel } from "@/lib/kinds";
import type { ClusterVersions, PlanRequest } from "@/lib/types";
import { words } from "@/words/clusters";

const say = words.softwareCard;

/** Which release the brokers run, which others their hosts have, and what they speak to each other. */
export function SoftwareCard({ versions, clusterId }: { versions: ClusterVersions; clusterId: string }) {
  const possible = versions.offers.filter(
    (offer) => offer.why_not === null && (!offer.is_current || versions.is_mixed),
  );
  const [chosen, choose] = useState("");
  const [request, setRequest] = useState<PlanRequest | null>(null);
  const version = possible.some((offer) => offer.name === chosen) ? chosen : (possible[0]?.name ?? "");
  const raised = versions.protocol_newest;
  const canRaise = raised !== null && !versions.is_mixed;
  const ask = (next: PlanRequest) => setRequest(next);
  return (
    <>
      <div className="ps-card-body">
        <Stats
          items={[
            { label: say.version, value: versions.version, note: versions.software ?? say.notKnown },
            { label: say.protocol, value: versions.protocol ?? say.notKnown },
            {
              label: say.reported,
              value: versions.reported_at === null ? "–" : <RelTime at={versions.reported_at} />,
            },
          ]}
        />
      </div>
      {versions.is_mixed && <Notice tone="warn">{say.mixed}</Notice>}
      <Brokers versions={versions} />
      <Offers versions={versions} />
      {versions.may_change && (
        <Group className="ps-card-body" gap="xs" align="end">
          {possible.length > 0 ? (
            <>
              <NativeSelect
                label={say.moveTo}
                value={version}
                onChange={(event) => choose(event.currentTarget.value)}
                data={possible.map((offer) => ({ value: offer.name, label: named(offer) }))}
              />
              <Button
                variant="default"
                onClick={() => ask({ kind: "cluster.upgrade", cluster_id: clusterId, inputs: { version } })}
              >
                {say.plan}
              </Button>
            </>
          ) : (
            <span className="ps-muted">{say.noOther}</span>
          )}
          {canRaise && (
            <Button
              variant="default"
              onClick={() => ask({ kind: "cluster.finalize_version", cluster_id: clusterId, inputs: {} })}
            >
              {say.raiseTo(raised)}
            </Button>
          )}
        </Group>
      )}
      <PlanFlow
        request={request}
        title={kindLabel(request?.kind ?? "cluster.upgrade")}
        onClose={() => setRequest(null)}
      />
    </>
  );
}

function named(offer: ClusterVersions["offers"][number]): string {
  return offer.software && offer.software !== offer.name ? `${offer.name} (${offer.software})` : offer.name;
}

function Brokers({ versions }: { versions: ClusterVersions }) {
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label={say.whatBrokersRun}>
        <thead>
          <tr>
            <th scope="col">{say.broker}</th>
            <th scope="col">{say.runs}</th>
            <th scope="col">{say.saysOfItself}</th>
            <th scope="col">{say.speaks}</th>
          </tr>
        </thead>
        <tbody>
          {versions.brokers.map((broker) => (
            <tr key={broker.id}>
              <td>{broker.id}</td>
              <td>
                <span className="ps-mono">{broker.running ?? say.notKnown}</span>
                {broker.running !== null && broker.running !== broker.desired && (
                  <span className="ps-bad"> {say.shallRun(broker.desired)}</span>
                )}
              </td>
              <td>{broker.software ?? <span className="ps-muted">{say.notSaid}</span>}</td>
              <td className="ps-mono">{broker.protocol ?? <span className="ps-muted">{say.notSaid}</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Offers({ versions }: { versions: ClusterVersions }) {
  const others = versions.offers.filter((offer) => offer.why_not !== null);
  if (others.length === 0) return null;
  return (
    <ul className="ps-card-body" aria-label={say.notPossible} style={{ listStyle: "none", margin: 0 }}>
      {others.map((offer) => (
        <li key={offer.name} className="ps-muted">
          <span className="ps-mono">{offer.name}</span>: {offer.why_not}
        </li>
      ))}
    </ul>
  );
}
