/** Where the ticks of a chart's upright axis stand: at whole minutes and whole KiB, and none half a step above. */
import { formatByteRate, formatBytes, formatDuration } from "./format";

const STEPS_S = [1, 5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400];
/** Of steps that an axis may have. */
const TICKS_MAX = 5;

interface Drawn {
  points: [number, number | null][];
}

/** Nothing for what is counted by tens: the chart's own ticks are good for that. */
export function ticks(
  format: (value: number) => string,
  series: readonly Drawn[],
): { interval: number; max: number } | Record<string, never> {
  const top = Math.max(0, ...series.flatMap((item) => item.points.map(([, value]) => value ?? 0)));
  const interval = format === formatDuration ? durationStep(top) : isBytes(format) ? byteStep(top) : null;
  if (interval === null) return {};
  // The axis ends at a tick: a label of its own for the highest value would stand between two.
  return { interval, max: Math.max(1, Math.ceil(top / interval)) * interval };
}

const isBytes = (format: unknown): boolean => format === formatBytes || format === formatByteRate;

const durationStep = (top: number): number =>
  STEPS_S.find((step) => top / step <= TICKS_MAX) ?? Math.ceil(top / TICKS_MAX / 86_400) * 86_400;

/** 1, 2, 5, 10 … 500 of a binary unit. */
function byteStep(top: number): number {
  for (let unit = 1; ; unit *= 1024) {
    for (const count of [1, 2, 5, 10, 20, 50, 100, 200, 500]) {
      if (top / (count * unit) <= TICKS_MAX) return count * unit;
    }
  }
}
