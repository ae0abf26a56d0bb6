/** The partitions of a reassignment: where each is, how many bytes have arrived, and the limit. */
import { Button, Group, NumberInput, Progress, Stack } from "@mantine/core";
import { useState } from "react";
import { useChangeLimit, useMoves } from "@/lib/moves";
import { TERMINAL } from "@/lib/operations";
import type { MoveRow, Operation } from "@/lib/types";
import { words } from "@/words/plans";
import { Card, Lines } from "./card";
import { Notice } from "./notice";
import { ProblemPanel } from "./problem-panel";
import { Quantity } from "./quantity";
import { Assignment } from "./replicas";

const say = words.moveProgress;

const MIB = 1024 * 1024;
const STATES: Record<MoveRow["state"], string> = {
  waiting: say.waitsForItsTurn,
  moving: say.moves,
  arrived: say.isThere,
  elsewhere: say.somebodyElseMovedIt,
  gone: say.itsTopicIsGone,
  unknown: "unknown",
};

/** What has arrived of what belongs there; a side that nobody could say is named so. */
export function BytesMoved({ moved, total }: { moved: number | null; total: number | null }) {
  if (total === null) return <span className="ps-muted">{say.unknown}</span>;
  return (
    <>
      <span className="ps-tnum">
        {say.ofWord(<Quantity of="bytes" value={moved} none={say.unknown} />, <Quantity of="bytes" value={total} />)}
      </span>
      {moved !== null && total > 0 && <Progress value={(100 * moved) / total} size="xs" aria-hidden />}
    </>
  );
}

function Limit({ operation, now }: { operation: Operation; now: number | null }) {
  const [wanted, setWanted] = useState<number | string>(now === null ? "" : Math.round((now / MIB) * 1000) / 1000);
  const change = useChangeLimit(operation.id);
  const bytes = Math.round(Number(wanted) * MIB);
  return (
    <Stack gap={8}>
      <Group gap={8} align="flex-end">
        <NumberInput
          label={say.limitPerBrokerMibS}
          description={now === null ? say.noLimitNow : say.limitNow(<Quantity of="byteRate" value={now} />)}
          min={0.001}
          decimalScale={3}
          value={wanted}
          onChange={setWanted}
          w={180}
        />
        <Button
          variant="default"
          disabled={!(bytes > 0) || bytes === now}
          loading={change.isPending}
          onClick={() => change.mutate(bytes)}
        >
          {say.changeLimit}
        </Button>
        {now !== null && (
          <Button variant="subtle" loading={change.isPending} onClick={() => change.mutate(null)}>
            {say.liftLimit}
          </Button>
        )}
      </Group>
      {change.isError && <ProblemPanel error={change.error} />}
    </Stack>
  );
}

export function MoveProgress({ operation, canWrite }: { operation: Operation; canWrite: boolean }) {
  const isUnderWay = !TERMINAL.has(operation.state);
  const [cursors, setCursors] = useState<string[]>([]);
  const query = useMoves(operation.id, cursors.at(-1), isUnderWay);
  if (query.isPending) return <Lines rows={4} />;
  if (!query.data) return <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />;
  const { data: rows, page, unknown, goes_back: goesBack, throttle_bytes_per_s: limit } = query.data;
  const next = page.next;
  return (
    <Card title={goesBack ? say.partitionsOnTheirWayBack : say.partitions}>
      <div className="ps-card-body">
        <Stack gap={8}>
          {isUnderWay && canWrite && <Limit key={String(limit)} operation={operation} now={limit} />}
          {unknown.length > 0 && (
            <Notice tone="warn" title={say.notEverythingIsKnown}>
              {unknown.map((gap) => gap.reason).join("; ")}
            </Notice>
          )}
        </Stack>
      </div>
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={say.progressByPartition}>
          <thead>
            <tr>
              <th scope="col">{say.partition}</th>
              <th scope="col">{say.from}</th>
              <th scope="col">{say.to}</th>
              <th scope="col">{say.state}</th>
              <th scope="col">{say.copied}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.topic}-${row.partition}`}>
                <td className="ps-mono">
                  {row.topic}-{row.partition}
                </td>
                <td>
                  <Assignment ids={row.before} other={row.after} mark="removed" />
                </td>
                <td>
                  <Assignment ids={row.after} other={row.before} mark="added" />
                </td>
                <td>{STATES[row.state]}</td>
                <td>
                  <BytesMoved moved={row.bytes_moved} total={row.bytes_to_move} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {(cursors.length > 0 || next) && (
        <Group gap={8} p="sm">
          <Button
            variant="default"
            size="xs"
            disabled={cursors.length === 0}
            onClick={() => setCursors(cursors.slice(0, -1))}
          >
            {say.previousPartitions}
          </Button>
          <Button variant="default" size="xs" disabled={!next} onClick={() => next && setCursors([...cursors, next])}>
            {say.nextPartitions}
          </Button>
        </Group>
      )}
    </Card>
  );
}
