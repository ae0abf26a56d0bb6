import { Breakable } from "@/components/breakable";
import { Card } from "@/components/card";
import { Status } from "@/components/status";
import type { PlatformHost } from "@/lib/types";
import { words } from "@/words/directories";
import { FreeOf } from "./host-parts";

const say = words.host;
const MAIN = "main";

/** The disks that a host has for brokers' logs, with what is wrong with one. */
export function HostDirectories({ host }: { host: PlatformHost }) {
  const rows = host.capacity.directories;
  if (rows.length === 0) return null;
  const isShared = (volume: string | null) =>
    volume !== null && rows.filter((other) => other.volume === volume).length > 1;
  return (
    <Card title={say.directories}>
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={say.directories}>
          <thead>
            <tr>
              <th scope="col">{say.name}</th>
              <th scope="col">{say.free}</th>
              <th scope="col">{say.state}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <td>
                  {row.name}
                  <div className="ps-mono ps-muted">
                    <Breakable text={row.path} />
                  </div>
                  {row.name === MAIN && <div className="ps-muted">{say.newBrokers}</div>}
                </td>
                <td>
                  <FreeOf free={row.free_bytes} total={row.total_bytes} />
                  {isShared(row.volume) && <div className="ps-muted">{say.shared}</div>}
                </td>
                <td style={row.problem ? { overflowWrap: "anywhere" } : { whiteSpace: "nowrap" }}>
                  {row.problem ? <Status tone="bad" label={row.problem} /> : <Status tone="ok" label={say.usable} />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
