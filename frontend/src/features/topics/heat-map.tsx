import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { formatBytes, formatInteger } from "@/lib/format";
import type { Partition } from "@/lib/types";

/** From here on a picture of all partitions says more than a page of the table. */
export const HEAT_MAP_FROM = 30;
const LEVELS = 5;

interface Measure {
  label: string;
  of: (row: Partition) => number | null;
  said: (value: number) => string;
}
const MEASURES = {
  size: { label: "Size", of: (row) => row.size_bytes, said: (value) => formatBytes(value) },
  records: {
    label: "Records",
    of: (row) => (row.log_end === null || row.log_start === null ? null : row.log_end - row.log_start),
    said: (value) => `${formatInteger(value)} records`,
  },
  behind: {
    label: "Out of sync",
    of: (row) => row.replicas.length - row.isr.length,
    said: (value) => `${formatInteger(value)} out of sync`,
  },
} as const satisfies Record<string, Measure>;
type MeasureName = keyof typeof MEASURES;

/** 0 for nothing, then the part of the largest in steps: 1 to 5; null is not known. */
export function levelOf(value: number | null, top: number): number | null {
  if (value === null) return null;
  return value <= 0 || top <= 0 ? 0 : Math.max(1, Math.ceil((LEVELS * value) / top));
}

/** All partitions at once, darker where there is more; the table under it has every value. */
export function HeatMap({ partitions }: { partitions: Partition[] }) {
  const [name, setName] = useState<MeasureName>("size");
  const measure: Measure = MEASURES[name];
  const values = partitions.map((row) => ({ row, value: measure.of(row) }));
  const known = values.filter((each): each is { row: Partition; value: number } => each.value !== null);
  const top = Math.max(0, ...known.map((each) => each.value));
  return (
    <div className="ps-card-body">
      <SegmentedControl
        size="xs"
        aria-label="Measure of the map"
        data={Object.entries(MEASURES).map(([value, { label }]) => ({ value, label }))}
        value={name}
        onChange={(value) => setName(value as MeasureName)}
      />
      <div className="ps-heat" role="img" aria-label={summary(measure, known, partitions.length)}>
        {values.map(({ row, value }) => (
          <span
            key={row.partition}
            data-level={levelOf(value, top) ?? "unknown"}
            data-offline={row.leader === null || row.leader < 0}
            title={`Partition ${row.partition}: ${value === null ? "not known" : measure.said(value)}${
              row.leader === null || row.leader < 0 ? ", no leader" : ""
            }`}
          />
        ))}
      </div>
    </div>
  );
}

function summary(measure: Measure, known: { row: Partition; value: number }[], all: number): string {
  const sorted = [...known].sort((left, right) => left.value - right.value);
  const [least, most] = [sorted[0], sorted.at(-1)];
  if (!least || !most) return `${measure.label} by partition: not known`;
  const unknown = all - known.length;
  return (
    `${measure.label} by partition: from ${measure.said(least.value)} in partition ${least.row.partition}` +
    ` to ${measure.said(most.value)} in partition ${most.row.partition}` +
    (unknown > 0 ? `; of ${formatInteger(unknown)} not known` : "")
  );
}
