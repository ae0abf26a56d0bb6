/** The partitions of a reassignment: where each is, how many bytes have arrived, and the limit. */
import { Button, Group, Progress, Stack } from "@mantine/core";
import { useState } from "react";
import { useMoves } from "@/lib/moves";
import { TERMINAL } from "@/lib/operations";
import type { MoveRow, Operation } from "@/lib/types";
import { words } from "@/words/plans";
import { Card, Lines } from "./card";
import { LimitForm } from "./copy-limit";
import { Notice } from "./notice";
import { ProblemPanel } from "./problem-panel";
import { Quantity } from "./quantity";
import { Assignment } from "./replicas";

const say = words.moveProgress;

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
          {isUnderWay && canWrite && <LimitForm key={String(limit)} operationId={operation.id} now={limit} />}
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
