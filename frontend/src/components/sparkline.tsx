import { useId } from "react";
import { formatRecordRate } from "@/lib/format";
import { words } from "@/words/charts";

const say = words.sparkline;

interface SparklineProps {
  /** What it is of, for those who hear it. */
  name: string;
  /** In even steps, the newest last; null is a gap. */
  values: readonly (number | null)[];
  format?: (value: number) => string;
  /** How far back it reaches, in words. */
  span?: string;
  width?: number;
  height?: number;
}

const MARGIN = 1.5;

type Dot = readonly [x: number, y: number];

/** Runs of known values; a gap is between them and no line goes over it. */
export function runsOf(values: readonly (number | null)[], width: number, height: number): Dot[][] {
  const top = Math.max(...values.map((value) => value ?? 0), 0);
  const step = (width - 2 * MARGIN) / Math.max(1, values.length - 1);
  const runs: Dot[][] = [];
  let run: Dot[] = [];
  values.forEach((value, at) => {
    if (value === null) {
      run = [];
      return;
    }
    if (run.length === 0) runs.push(run);
    const share = top > 0 ? value / top : 0;
    run.push([MARGIN + at * step, height - MARGIN - share * (height - 2 * MARGIN)]);
  });
  return runs;
}

const path = (run: Dot[]) => run.map(([x, y], at) => `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/** A line of the last hour beside a row's name: drawn by hand, as a list has a hundred of them. */
export function Sparkline({
  name,
  values,
  format = formatRecordRate,
  span = say.theLastHour,
  width = 84,
  height = 22,
}: SparklineProps) {
  const id = useId();
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return <span className="ps-muted">–</span>;
  const words = say.toIn(name, format(Math.min(...known)), format(Math.max(...known)), span);
  return (
    <svg role="img" aria-labelledby={id} width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
      <title id={id}>{words}</title>
      {runsOf(values, width, height).map((run) =>
        run.length === 1 ? (
          <circle key={run[0]?.[0]} cx={run[0]?.[0]} cy={run[0]?.[1]} r={1.2} fill="var(--ps-accent)" />
        ) : (
          <path
            key={run[0]?.[0]}
            d={path(run)}
            fill="none"
            stroke="var(--ps-accent)"
            strokeWidth={1.4}
            strokeLinejoin="round"
          />
        ),
      )}
    </svg>
  );
}
