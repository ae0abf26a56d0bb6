import { Stack } from "@mantine/core";
import type { AddLogDirectoryDiffData, EmptyLogDirectoryDiffData } from "@/lib/types";
import { words } from "@/words/directories";
import { Breakable } from "../breakable";
import { Quantity } from "../quantity";
import { RollDiff } from "./roll-diff";

const say = words.diff;

/** Which directories each broker has before and after, and how much room the new one has. */
export function AddLogDirectoryDiff({ diff }: { diff: AddLogDirectoryDiffData }) {
  return (
    <Stack gap="sm">
      <div className="ps-card">
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label={say.directories}>
            <thead>
              <tr>
                <th scope="col">{say.broker}</th>
                <th scope="col">{say.before}</th>
                <th scope="col">{say.after}</th>
                <th scope="col">{say.free}</th>
              </tr>
            </thead>
            <tbody>
              {diff.brokers.map((broker) => (
                <tr key={broker.id}>
                  <td>{broker.id}</td>
                  <Names names={broker.log_dirs.before} tone="ps-diff-del" />
                  <Names names={broker.log_dirs.after} tone="ps-diff-add" />
                  <td>
                    {broker.free_bytes === null ? (
                      <span className="ps-muted">{say.notKnown}</span>
                    ) : (
                      <Quantity of="bytes" value={broker.free_bytes} />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
      <RollDiff diff={diff} />
    </Stack>
  );
}

/** What leaves the directory of each broker and where it goes; then the restarts, where it is taken away. */
export function EmptyLogDirectoryDiff({ diff }: { diff: EmptyLogDirectoryDiffData }) {
  return (
    <Stack gap="sm">
      <div className="ps-card">
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label={say.directories}>
            <thead>
              <tr>
                <th scope="col">{say.broker}</th>
                <th scope="col">{say.leaving}</th>
                <th scope="col">{say.goes}</th>
                <th scope="col">{say.before}</th>
                <th scope="col">{say.after}</th>
              </tr>
            </thead>
            <tbody>
              {diff.brokers.map((broker) => (
                <tr key={broker.id}>
                  <td>{broker.id}</td>
                  <td>
                    {say.replicas(broker.leaving)}{" "}
                    <span className="ps-muted">
                      {broker.leaving_bytes === null ? (
                        say.notKnown
                      ) : (
                        <Quantity of="bytes" value={broker.leaving_bytes} />
                      )}
                    </span>
                  </td>
                  <td style={{ overflowWrap: "anywhere" }}>
                    <Goes broker={broker} />
                  </td>
                  <Names names={broker.log_dirs.before} tone="ps-diff-del" />
                  <Names names={broker.log_dirs.after} tone="ps-diff-add" />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p className="ps-card-body ps-muted">
          {diff.bytes_per_s === null ? say.noLimit : say.limit(<Quantity of="bytes" value={diff.bytes_per_s} />)}
        </p>
      </div>
      {diff.remove && <RollDiff diff={diff} />}
    </Stack>
  );
}

function Goes({ broker }: { broker: EmptyLogDirectoryDiffData["brokers"][number] }) {
  if (broker.state === "failed") return <span className="ps-warn">{say.madeAnew}</span>;
  if (broker.moves.length === 0) return <span className="ps-muted">{say.nothing}</span>;
  return <>{broker.moves.map((move) => say.into(move.directory, move.replicas)).join(", ")}</>;
}

function Names({ names, tone }: { names: string[]; tone: string }) {
  return (
    <td className={`ps-mono ${tone}`}>
      <Breakable text={names.join(", ")} />
    </td>
  );
}
