import { Link } from "@tanstack/react-router";
import { Card, PartView } from "@/components/card";
import { aclSentence } from "@/lib/acl-words";
import { Empty } from "@/components/empty";
import { GroupLink } from "@/components/group-link";
import { Notice } from "@/components/notice";
import { GroupState, Status, type Tone } from "@/components/status";
import { formatInteger } from "@/lib/format";
import { usePage } from "@/lib/page";
import type { AclBinding, TopicReaders } from "@/lib/types";
import { type May, whoMay } from "@/lib/who-may";
import { words } from "@/words/topics";
import { ProducersCard } from "./producers";

const say = words.clientsTab;

interface ClientsTabProps {
  clusterId: string;
  topic: string;
}

/** Who reads the topic and how far behind, and whom the rules let produce and consume. */
export function ClientsTab({ clusterId, topic }: ClientsTabProps) {
  const query = usePage("clients/{cluster_id}/{topic}", { cluster_id: clusterId, topic });
  return (
    <div className="ps-stack">
      <Card title={say.consumers}>
        <PartView query={query} name="readers" rows={4}>
          {(found) => <Readers found={found} clusterId={clusterId} />}
        </PartView>
      </Card>
      <ProducersCard clusterId={clusterId} topic={topic} />
      <Card
        title={say.whoMayProduceAndConsume}
        aside={
          <Link to="/clusters/$clusterId/access" params={{ clusterId }} className="ps-link">
            {say.usersAndAcls}
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
  if (found.groups.length === 0) return <Empty title={say.noGroupReads}>{say.whenAGroupAppears}</Empty>;
  return (
    <>
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={say.consumers}>
          <thead>
            <tr>
              <th scope="col">{say.group}</th>
              <th scope="col">{say.state}</th>
              <th scope="col" data-align="right" className="ps-hide-sm">
                {say.members}
              </th>
              <th scope="col" data-align="right">
                {say.lagOnThisTopic}
              </th>
              <th scope="col" className="ps-hide-sm">
                {say.commits}
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
                    <span className="ps-muted">{row.committed === 0 ? say.noCommit : say.notKnown}</span>
                  ) : (
                    formatInteger(row.lag)
                  )}
                </td>
                <td className="ps-hide-sm">
                  {say.partitions(row.committed)}
                  {row.uncommitted > 0 && <span className="ps-warn">{say.moreWithoutACommit(row.uncommitted)}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!found.complete && (
        <div className="ps-card-body">
          <Notice tone="info">{say.notEveryGroup}</Notice>
        </div>
      )}
    </>
  );
}

const MAY: Record<May, [Tone, string]> = {
  yes: ["ok", say.yes],
  some: ["warn", say.fromSomeHosts],
  no: ["bad", say.denied],
  none: ["muted", say.noRule],
};

function Right({ may }: { may: May }) {
  const [tone, label] = MAY[may];
  return <Status tone={tone} label={label} />;
}

function Rights({ rules }: { rules: AclBinding[] }) {
  const rows = whoMay(rules);
  if (rows.length === 0) return <Empty title={say.noRuleIsAboutThisTopic}>{say.whoMayWithoutARule}</Empty>;
  return (
    <>
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={say.whoMayProduceAndConsume}>
          <thead>
            <tr>
              <th scope="col">{say.principal}</th>
              <th scope="col">{say.produce}</th>
              <th scope="col">{say.consume}</th>
              <th scope="col" className="ps-hide-sm">
                {say.because}
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
        {say.groupsNeedReadToo}
      </div>
    </>
  );
}
