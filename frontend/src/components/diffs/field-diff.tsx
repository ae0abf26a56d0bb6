import { formatBytes, formatInteger } from "@/lib/format";
import { grantSentence } from "@/lib/grant-words";
import type { AclBinding, Grant } from "@/lib/types";
import { words } from "@/words/diffs";
import { ConfigValue } from "../config-value";
import { aclSentence } from "@/lib/acl-words";

const say = words.fieldDiff;

type Flat = Record<string, string>;

/** Nested objects as dotted fields, so that two documents compare line by line. */
export function flatten(value: unknown, prefix = "", into: Flat = {}): Flat {
  if (value === null || value === undefined) return into;
  if (Array.isArray(value)) {
    into[prefix] = value.map(itemText).join("\n");
  } else if (typeof value === "object") {
    for (const [key, item] of Object.entries(value)) flatten(item, prefix ? `${prefix}.${key}` : key, into);
  } else {
    into[prefix || "value"] = String(value);
  }
  return into;
}

const isStoredGrant = (item: object): item is Grant => "clusters" in item && "over" in item && "names" in item;
const isAcl = (item: object): item is AclBinding => "principal" in item && "resource_name" in item;

/** Where a broker of a new cluster will be. */
interface Placed {
  broker_id: number;
  rack: string;
  address: string;
  client_port: number;
  internal_port: number;
}
const isPlaced = (item: object): item is Placed => "broker_id" in item && "rack" in item && "client_port" in item;

/** Hosts are the platform's: a tenant's plan names racks and addresses. */
function placedSentence({ broker_id, rack, address, client_port, internal_port }: Placed): string {
  const [clients, brokers] = [`${address}:${client_port}`, `${address}:${internal_port}`];
  return rack === "" ? say.placed(broker_id, clients, brokers) : say.placedInRack(broker_id, rack, clients, brokers);
}

/** One item of a list on its own line: a rule or a place as a sentence, any other object as JSON. */
function itemText(item: unknown): string {
  if (typeof item !== "object" || item === null) return String(item);
  if (isAcl(item)) return aclSentence(item);
  if (isPlaced(item)) return placedSentence(item);
  return isStoredGrant(item) ? grantSentence(item) : JSON.stringify(item);
}

/** The value with its unit, and in words beside it, by the unit in the field's own name. */
function Value({ name, value }: { name: string; value: string }) {
  const number = Number(value);
  const counts = value !== "" && !Number.isNaN(number) && number >= 0 && number < 9e18;
  if (name === "bytes" && counts) return <span title={say.bytes(number)}>{formatBytes(number)}</span>;
  if (name === "records" && counts) return <>{formatInteger(number)}</>;
  if (value.includes("\n")) {
    return (
      <ul style={{ margin: 0, paddingLeft: 0, listStyle: "none" }}>
        {value.split("\n").map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    );
  }
  return value === "" ? <span className="ps-muted">{say.none}</span> : <ConfigValue name={name} value={value} />;
}

/** Fields of plans in words; configuration keys keep Kafka's spelling. */
const WORDS: Record<string, string> = {
  name: say.name,
  username: say.user,
  mechanism: say.signsInWith,
  mechanisms: say.signsInWith,
  partitions: say.partitions,
  replication_factor: say.replicationFactor,
  groups: say.groupsThatReadIt,
  acls: say.accessRules,
  bytes: say.data,
  records: say.records,
  broker_count: say.brokers,
  brokers: say.brokers,
  bootstrap_servers: say.bootstrapServers,
  security_protocol: say.securityProtocol,
  sasl_mechanism: say.mechanism,
  password: say.password,
};

function Field({ name }: { name: string }) {
  const word = WORDS[name];
  return word ? <>{word}</> : <span className="ps-mono">{name.replace(/^configs?\./, "")}</span>;
}

interface FieldDiffProps {
  before: unknown;
  after: unknown;
  /** It has happened: what is gone was there before, not now. */
  past?: boolean;
}

export function FieldDiff({ before, after, past = false }: FieldDiffProps) {
  const old = flatten(before);
  const next = flatten(after);
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])];
  const changed = names.filter((name) => old[name] !== next[name]);
  const same = names.length - changed.length;
  if (changed.length === 0) return null;
  const creating = Object.keys(old).length === 0;
  const deleting = Object.keys(next).length === 0;
  return (
    <div className="ps-card">
      <div className="ps-table-wrap" style={{ maxHeight: 340, overflowY: "auto" }}>
        <table className="ps-table" aria-label={say.changes}>
          <thead>
            <tr>
              <th scope="col">{say.field}</th>
              {!creating && <th scope="col">{deleting && !past ? say.now : say.before}</th>}
              {!deleting && <th scope="col">{creating ? say.value : say.after}</th>}
            </tr>
          </thead>
          <tbody>
            {changed.map((name) => (
              <tr key={name}>
                <td style={{ whiteSpace: "nowrap" }}>
                  <Field name={name} />
                </td>
                {!creating && (
                  <td className="ps-mono ps-diff-del">
                    {old[name] === undefined ? (
                      <span className="ps-muted">{say.notSet}</span>
                    ) : (
                      <Value name={name} value={old[name]} />
                    )}
                  </td>
                )}
                {!deleting && (
                  <td className="ps-mono ps-diff-add">
                    {next[name] === undefined ? (
                      <span className="ps-muted">{say.notSet}</span>
                    ) : (
                      <Value name={name} value={next[name]} />
                    )}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {same > 0 && (
        <div
          className="ps-muted"
          style={{ padding: "6px 14px", fontSize: "0.75rem", borderTop: "1px solid var(--ps-line)" }}
        >
          {say.unchanged(same)}
        </div>
      )}
    </div>
  );
}
