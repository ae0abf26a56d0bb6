import { Skeleton, useComputedColorScheme } from "@mantine/core";
import { lazy, Suspense, useMemo } from "react";
import { type ChartMark, type ChartSubject, marksOf, rangeOf } from "@/lib/chart-events";
import { formatCompact } from "@/lib/format";
import { colorsOf } from "@/lib/series-colors";
import { ticks } from "@/lib/ticks";
import { words } from "@/words/charts";
import { ChartEvents, useShownEvents } from "./chart-events";

const say = words.timeChart;

const EChart = lazy(() => import("./echart"));

export interface Series {
  name: string;
  points: [number, number | null][];
}

interface TimeChartProps {
  series: Series[];
  label: string;
  format?: (value: number) => string;
  height?: number;
  area?: boolean;
  /** Milliseconds shown, so that an empty stretch looks empty. */
  from?: number;
  to?: number;
  /** Marks what happened to it in the time shown, and lists that below. */
  about?: ChartSubject;
}

/** Colours that most eyes can distinguish, in both schemes. */
const LIGHT = ["#0b6b80", "#c2570c", "#5b4bc4", "#2f7d32", "#b0307a", "#6b6b00", "#1f63b5", "#8a3b12"];
const DARK = ["#58bdd1", "#f0a35c", "#a99cf5", "#7fce83", "#ee8cc2", "#d3cf5a", "#7fb6ff", "#e3a184"];

/** Colours of marks by the tone of what happened, readable on either ground. */
const MARKS: Record<ChartMark["tone"], [light: string, dark: string]> = {
  bad: ["#b3261e", "#ff8a80"],
  warn: ["#8a5a00", "#f0b95c"],
  good: ["#2f7d32", "#7fce83"],
  neutral: ["#5a6673", "#97a4b3"],
};

const NO_MARKS: ChartMark[] = [];

function markLine(marks: ChartMark[], dark: boolean) {
  return {
    silent: true,
    symbol: "none",
    animation: false,
    data: marks.map(({ at, tone, label }) => {
      const color = MARKS[tone][dark ? 1 : 0];
      return {
        xAxis: at,
        lineStyle: { color, type: "dashed", width: 1 },
        label: { formatter: label, color, fontSize: 10, position: "end", distance: 2 },
      };
    }),
  };
}

/** Lines over time with one shared crosshair; gaps stay gaps. */
export function TimeChart({ about, ...drawn }: TimeChartProps) {
  return about ? <MarkedChart about={about} {...drawn} /> : <Lines {...drawn} marks={NO_MARKS} />;
}

/** With what happened in the time that is shown. */
function MarkedChart({ about, ...drawn }: TimeChartProps & { about: ChartSubject }) {
  const { series, from, to } = drawn;
  const range = useMemo(
    () => (from !== undefined && to !== undefined ? { from, to } : rangeOf(series)),
    [series, from, to],
  );
  const happened = useShownEvents(about, range);
  const { events } = happened;
  const marks = useMemo(() => (range ? marksOf(events, range) : NO_MARKS), [events, range]);
  return (
    <>
      <Lines {...drawn} marks={marks} />
      <ChartEvents happened={happened} label={drawn.label} />
    </>
  );
}

function Lines({
  series,
  label,
  format = formatCompact,
  height = 240,
  area = false,
  from,
  to,
  marks,
}: Omit<TimeChartProps, "about"> & { marks: ChartMark[] }) {
  const scheme = useComputedColorScheme("light");
  const option = useMemo(() => {
    const dark = scheme === "dark";
    const ink = dark ? "#97a4b3" : "#5a6673";
    const line = dark ? "#26303b" : "#e3e8ed";
    const palette = dark ? DARK : LIGHT;
    const colors = colorsOf(
      series.map((item) => item.name),
      palette.length,
    );
    return {
      animation: false,
      textStyle: { fontFamily: "'Inter Variable', system-ui, sans-serif" },
      grid: {
        left: 8,
        right: 16,
        top: (series.length > 1 ? 34 : 14) + (marks.length > 0 ? 8 : 0),
        bottom: 4,
        containLabel: true,
      },
      legend:
        series.length > 1
          ? {
              type: "scroll",
              top: 0,
              left: 4,
              icon: "roundRect",
              itemWidth: 12,
              itemHeight: 4,
              textStyle: { color: ink, fontSize: 12 },
            }
          : undefined,
      tooltip: {
        trigger: "axis",
        appendTo: "body",
        backgroundColor: dark ? "#1a232c" : "#fff",
        borderColor: line,
        textStyle: { color: dark ? "#d9dfe7" : "#18202a", fontSize: 12 },
        valueFormatter: (value: unknown) => (typeof value === "number" ? format(value) : say.notKnown),
      },
      xAxis: {
        type: "time",
        min: from,
        max: to,
        axisLine: { lineStyle: { color: line } },
        axisTick: { show: false },
        axisLabel: { color: ink, fontSize: 11, hideOverlap: true },
      },
      yAxis: {
        type: "value",
        min: 0,
        splitNumber: 4,
        ...ticks(format, series),
        axisLabel: { color: ink, fontSize: 11, formatter: (value: number) => format(value) },
        splitLine: { lineStyle: { color: line } },
      },
      series: series.map((item, place) => ({
        markLine: place === 0 && marks.length > 0 ? markLine(marks, dark) : undefined,
        name: item.name,
        type: "line",
        color: palette[colors[place] ?? 0],
        data: item.points,
        ...dots(item.points),
        connectNulls: false,
        lineStyle: { width: 1.8 },
        areaStyle: area && series.length === 1 ? { opacity: 0.12 } : undefined,
      })),
    };
  }, [series, scheme, format, area, from, to, marks]);
  return (
    <Suspense fallback={<Skeleton height={height} />}>
      <EChart option={option} height={height} label={label} />
    </Suspense>
  );
}

/** A point between two gaps is no line: it is shown as a dot, and the others are not. */
function dots(points: Series["points"]) {
  if (points.length < 3) return { showSymbol: true, symbolSize: 5 };
  const known = (at: number) => (points[at]?.[1] ?? null) !== null;
  const lone = new Set(points.flatMap((_, at) => (known(at) && !known(at - 1) && !known(at + 1) ? [at] : [])));
  if (lone.size === 0) return { showSymbol: false };
  return {
    showSymbol: true,
    symbolSize: (_: unknown, { dataIndex }: { dataIndex: number }) => (lone.has(dataIndex) ? 5 : 0),
  };
}
