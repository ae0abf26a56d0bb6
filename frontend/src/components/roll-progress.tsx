/** The brokers of a roll: where each is, what clients saw of its restart, and what the next one waits for. */
import { Button, Group, Stack } from "@mantine/core";
import { usePauseOperation, useResumeOperation } from "@/lib/plans";
import type { Operation, RolledBroker } from "@/lib/types";
import { noteText, waitingText } from "@/lib/step-details";
import { words } from "@/words/rolls";
import { Notice } from "./notice";
import { ProblemPanel } from "./problem-panel";
import { Quantity } from "./quantity";
import { RelTime } from "./rel-time";

const say = words.rollProgress;

const TONES: Partial<Record<RolledBroker["state"], string>> = { done: "ps-ok", failed: "ps-bad", observing: "ps-run" };

/** Stops it before the next broker, or has it go on. */
export function PauseButton({ operation }: { operation: Operation }) {
  const pause = usePauseOperation();
  const resume = useResumeOperation();
  const [act, label] = operation.paused_at ? [resume, say.resume] : [pause, say.pause];
  return (
    <>
      <Button variant="default" loading={act.isPending} onClick={() => act.mutate(operation.id)}>
        {label}
      </Button>
      {act.isError && <ProblemPanel error={act.error} />}
    </>
  );
}

function awayS(broker: RolledBroker): number | null {
  if (!broker.restarted_at || !broker.in_sync_at) return null;
  return (Date.parse(broker.in_sync_at) - Date.parse(broker.restarted_at)) / 1000;
}

/** What a producer with acks=all saw; nothing is claimed of what nobody measured. */
function Seen({ broker }: { broker: RolledBroker }) {
  const { seen } = broker;
  if (seen === null) return <span className="ps-muted">{broker.restarted_at ? say.notMeasured : "–"}</span>;
  return (
    <span className="ps-tnum">
      {seen.gap_s === 0 ? say.noGap : <Quantity of="span" value={seen.gap_s} />}
      {seen.failed > 0 && <span className="ps-bad">{say.failed(seen.failed)}</span>}
      {!seen.is_whole && <span className="ps-muted">{say.inPart}</span>}
    </span>
  );
}

export function RollProgress({ operation }: { operation: Operation }) {
  const roll = operation.outcome?.roll;
  if (!roll) return null;
  return (
    <Stack gap="sm">
      {operation.paused_at && (
        <Notice tone="info" title={say.paused}>
          {say.pausedBy(operation.paused_by.replace(/^user:/, ""), <RelTime at={operation.paused_at} />)}
        </Notice>
      )}
      {roll.waiting_for.length > 0 && (
        <Notice tone="warn" title={say.theNextOneWaits}>
          {waitingText(roll)}
        </Notice>
      )}
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={say.brokersOneAfterTheOther}>
          <thead>
            <tr>
              <th scope="col">{say.broker}</th>
              <th scope="col">{say.state}</th>
              <th scope="col" data-align="right">
                {say.awayFor}
              </th>
              <th scope="col" data-align="right" title={say.gapMeans}>
                {say.gap}
              </th>
              <th scope="col">{say.note}</th>
            </tr>
          </thead>
          <tbody>
            {roll.brokers.map((broker) => (
              <tr key={broker.id}>
                <td>{broker.id}</td>
                <td className={TONES[broker.state]}>{say.states[broker.state]}</td>
                <td data-align="right">
                  <Quantity of="span" value={awayS(broker)} />
                </td>
                <td data-align="right">
                  <Seen broker={broker} />
                </td>
                <td className="ps-muted">{noteText(broker)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {roll.brokers.some((broker) => broker.seen) && (
        <Group>
          <span className="ps-muted">{say.gapMeans}</span>
        </Group>
      )}
    </Stack>
  );
}
