import { SegmentedControl } from "@mantine/core";
import { type KeyboardEvent, useRef, useState } from "react";
import { formatBytes } from "@/lib/format";
import type { Partition } from "@/lib/types";
import { words } from "@/words/topic-partitions";

const say = words.heatMap;

/** From here on a picture of all partitions says more than a page of the table. */
export const HEAT_MAP_FROM = 30;
const LEVELS = 5;

interface Measure {
  label: string;
  of: (row: Partition) => number | null;
  said: (value: number) => string;
}
const MEASURES = {
  size: { label: say.size, of: (row) => row.size_bytes, said: (value) => formatBytes(value) },
  records: {
    label: say.records,
    of: (row) => (row.log_end === null || row.log_start === null ? null : row.log_end - row.log_start),
    said: say.recordsHeld,
  },
  behind: {
    label: say.outOfSync,
    of: (row) => row.replicas.length - row.isr.length,
    said: say.replicasOutOfSync,
  },
} as const satisfies Record<string, Measure>;
type MeasureName = keyof typeof MEASURES;

/** 0 for nothing, then the part of the largest in steps: 1 to 5; null is not known. */
export function levelOf(value: number | null, top: number): number | null {
  if (value === null) return null;
  return value <= 0 || top <= 0 ? 0 : Math.max(1, Math.ceil((LEVELS * value) / top));
}

interface HeatMapProps {
  partitions: Partition[];
  onOpen: (partition: number) => void;
}

/**
 * All partitions at once, darker where there is more; the table under it has every value. A cell opens its
 * partition; by Tab one comes to one of them, by arrows, Home and End to the others.
 */
export function HeatMap({ partitions, onOpen }: HeatMapProps) {
  const [name, setName] = useState<MeasureName>("size");
  const [current, setCurrent] = useState(0);
  const map = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const cells = [...(map.current?.children ?? [])] as HTMLElement[];
    const next = placeAfter(event.key, current, cells.length, rowLength(cells));
    if (next === undefined) return;
    event.preventDefault();
    setCurrent(next);
    cells[next]?.focus();
  };
  const measure: Measure = MEASURES[name];
  const values = partitions.map((row) => ({ row, value: measure.of(row) }));
  const known = values.filter((each): each is { row: Partition; value: number } => each.value !== null);
  const top = Math.max(0, ...known.map((each) => each.value));
  return (
    <div className="ps-card-body">
      <SegmentedControl
        size="xs"
        aria-label={say.measureOfTheMap}
        data={Object.entries(MEASURES).map(([value, { label }]) => ({ value, label }))}
        value={name}
        onChange={(value) => setName(value as MeasureName)}
      />
      <div className="ps-heat" role="group" aria-label={summary(measure, known, partitions.length)} ref={map}>
        {values.map(({ row, value }, index) => (
          <button
            key={row.partition}
            type="button"
            tabIndex={index === Math.min(current, values.length - 1) ? 0 : -1}
            onFocus={() => setCurrent(index)}
            onKeyDown={move}
            onClick={() => onOpen(row.partition)}
            data-level={levelOf(value, top) ?? "unknown"}
            data-offline={row.leader === null || row.leader < 0}
            title={saidOf(row, value, measure)}
            aria-label={saidOf(row, value, measure)}
          />
        ))}
      </div>
    </div>
  );
}

/** How many cells the first row has. */
function rowLength(cells: HTMLElement[]): number {
  const second = cells.findIndex((cell) => cell.offsetTop !== cells[0]?.offsetTop);
  return second < 0 ? cells.length : second;
}

/** Where a key leads from a cell; undefined: it is no key of the map. */
export function placeAfter(key: string, at: number, count: number, columns: number): number | undefined {
  const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const step = steps[key];
  if (step === undefined) return undefined;
  const next = at + step;
  return next >= 0 && next < count ? next : at;
}

function saidOf(row: Partition, value: number | null, measure: Measure): string {
  const offline = row.leader === null || row.leader < 0;
  const said = value === null ? say.notKnown : measure.said(value);
  return (offline ? say.partitionWithoutLeader : say.partition)(row.partition, said);
}

function summary(measure: Measure, known: { row: Partition; value: number }[], all: number): string {
  const sorted = [...known].sort((left, right) => left.value - right.value);
  const [least, most] = [sorted[0], sorted.at(-1)];
  if (!least || !most) return say.nothingKnown(measure.label);
  const unknown = all - known.length;
  const said = say.fromTo(
    measure.label,
    measure.said(least.value),
    least.row.partition,
    measure.said(most.value),
    most.row.partition,
  );
  return unknown > 0 ? say.someNotKnown(said, unknown) : said;
}
