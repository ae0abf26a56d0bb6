import { Link } from "@tanstack/react-router";
import { Card, PartView } from "@/components/card";
import { aclSentence } from "@/components/diffs/acl-diff";
import { Empty } from "@/components/empty";
import { GroupLink } from "@/components/group-link";
import { Notice } from "@/components/notice";
import { GroupState, Status, type Tone } from "@/components/status";
import { formatInteger, plural } from "@/lib/format";
import { usePage } from "@/lib/page";
import type { AclBinding, TopicReaders } from "@/lib/types";
import { type May, whoMay } from "@/lib/who-may";
import { ProducersCard } from "./producers";

interface ClientsTabProps {
  clusterId: string;
  topic: string;
}

/** Who reads the topic and how far behind, and whom the rules let produce and consume. */
export function ClientsTab({ clusterId, topic }: ClientsTabProps) {
  const query = usePage("clients/{cluster_id}/{topic}", { cluster_id: clusterId, topic });
  return (
    <div className="ps-stack">
      <Card title="Consumers">
        <PartView query={query} name="readers" rows={4}>
          {(found) => <Readers found={found} clusterId={clusterId} />}
        </PartView>
      </Card>
      <ProducersCard clusterId={clusterId} topic={topic} />
      <Card
        title="Who may produce and consume"
        aside={
          <Link to="/clusters/$clusterId/access" params={{ clusterId }} className="ps-link">
            Users and ACLs
          </Link>
        }
      >
        <PartView query={query} name="rules" rows={4}>
          {(rules) => <Rights rules={rules} />}
        </PartView>
      </Card>
    </div>
  );
}

function Readers({ found, clusterId }: { found: TopicReaders; clusterId: string }) {
  if (found.groups.length === 0)
    return (
      <Empty title="No group reads this topic">
        A group appears once it is assigned a partition or has committed an offset. Consumers without a group are not
        known to the brokers.
      </Empty>
    );
  return (
    <>
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label="Consumers">
          <thead>
            <tr>
              <th scope="col">Group</th>
              <th scope="col">State</th>
              <th scope="col" data-align="right" className="ps-hide-sm">
                Members
              </th>
              <th scope="col" data-align="right">
                Lag on this topic, records
              </th>
              <th scope="col" className="ps-hide-sm">
                Commits
              </th>
            </tr>
          </thead>
          <tbody>
            {found.groups.map((row) => (
              <tr key={row.group}>
                <td>
                  <GroupLink clusterId={clusterId} group={row.group} />
                </td>
                <td>
                  <GroupState state={row.state} />
                </td>
                <td data-align="right" className="ps-hide-sm">
                  {formatInteger(row.members)}
                </td>
                <td data-align="right" title={row.stale_reason ?? undefined}>
                  {row.lag === null ? (
                    <span className="ps-muted">{row.committed === 0 ? "no commit" : "not known"}</span>
                  ) : (
                    formatInteger(row.lag)
                  )}
                </td>
                <td className="ps-hide-sm">
                  {plural(row.committed, "partition")}
                  {row.uncommitted > 0 && (
                    <span className="ps-warn">, {plural(row.uncommitted, "more", "more")} without a commit</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!found.complete && (
        <div className="ps-card-body">
          <Notice tone="info">Not every group of the cluster was looked at: there are too many.</Notice>
        </div>
      )}
    </>
  );
}

const MAY: Record<May, [Tone, string]> = {
  yes: ["ok", "yes"],
  some: ["warn", "from some hosts"],
  no: ["bad", "denied"],
  none: ["muted", "no rule"],
};

function Right({ may }: { may: May }) {
  const [tone, label] = MAY[may];
  return <Status tone={tone} label={label} />;
}

function Rights({ rules }: { rules: AclBinding[] }) {
  const rows = whoMay(rules);
  if (rows.length === 0)
    return (
      <Empty title="No rule is about this topic">
        Super users may produce and consume; whether anybody else may is for the brokers' setting
        allow.everyone.if.no.acl.found.
      </Empty>
    );
  return (
    <>
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label="Who may produce and consume">
          <thead>
            <tr>
              <th scope="col">Principal</th>
              <th scope="col">Produce</th>
              <th scope="col">Consume</th>
              <th scope="col" className="ps-hide-sm">
                Because
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.principal}>
                <td className="ps-mono">{row.principal}</td>
                <td>
                  <Right may={row.produce} />
                </td>
                <td>
                  <Right may={row.consume} />
                </td>
                <td className="ps-hide-sm">
                  {row.rules.map((rule) => (
                    <div key={JSON.stringify(rule)}>{aclSentence(rule)}</div>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="ps-card-body ps-muted" style={{ fontSize: "0.75rem" }}>
        Consuming in a group needs READ on the group too. Super users need no rule.
      </div>
    </>
  );
}
