import { Stack } from "@mantine/core";
import type { FinalizeDiffData, UpgradeDiffData } from "@/lib/types";
import { words } from "@/words/rolls";
import { Breakable } from "../breakable";
import { RollDiff } from "./roll-diff";

const say = words.versionDiff;

/** From which release to which, broker by broker, what they speak meanwhile, and whether there is a way back. */
export function UpgradeDiff({ diff }: { diff: UpgradeDiffData }) {
  return (
    <Stack gap="sm">
      <div className="ps-card">
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label={say.versions}>
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
                  <td>{broker.id}</td>
                  <td className="ps-diff-del">
                    <Release name={broker.from_version} software={broker.from_software} />
                  </td>
                  <td className="ps-diff-add">
                    <Release name={broker.to_version} software={diff.version.software} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p className="ps-card-body ps-muted">
          {say.theSameEverywhere} <span className="ps-mono">{diff.version.digest.slice(0, 12)}</span>
        </p>
        <p className="ps-card-body ps-muted">{say.protocolStays(diff.protocol.now)}</p>
        <Changes title={say.comesLater(diff.protocol.newest)} changes={diff.protocol.changes} />
        <p className="ps-card-body">{diff.way_back.text}</p>
      </div>
      {diff.brokers.length > 0 && <RollDiff diff={diff} />}
    </Stack>
  );
}

/** What brokers speak to each other before and after, and which releases cannot be gone back to then. */
export function FinalizeDiff({ diff }: { diff: FinalizeDiffData }) {
  const { now, after, changes } = diff.protocol;
  return (
    <Stack gap="sm">
      <div className="ps-card">
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label={say.protocol}>
            <thead>
              <tr>
                <th scope="col">{say.setting}</th>
                <th scope="col">{say.from}</th>
                <th scope="col">{say.to}</th>
              </tr>
            </thead>
            <tbody>
              <tr>
                <td className="ps-mono">
                  <Breakable text="inter.broker.protocol.version" />
                </td>
                <td className="ps-mono ps-diff-del">{now}</td>
                <td className="ps-mono ps-diff-add">{after}</td>
              </tr>
            </tbody>
          </table>
        </div>
        <Changes title={say.isNew} changes={changes} />
        {diff.no_way_back_to.length > 0 && (
          <p className="ps-card-body ps-bad">{say.noWayBackTo(diff.no_way_back_to.join(", "))}</p>
        )}
      </div>
      <RollDiff diff={diff} />
    </Stack>
  );
}

function Release({ name, software }: { name: string; software: string | null }) {
  return (
    <>
      <span className="ps-mono">
        <Breakable text={name} />
      </span>
      {software && software !== name && <span className="ps-muted"> {software}</span>}
    </>
  );
}

function Changes({ title, changes }: { title: string; changes: string[] }) {
  if (changes.length === 0) return null;
  return (
    <div className="ps-card-body">
      {title}
      <ul>
        {changes.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
}
