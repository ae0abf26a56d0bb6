import { Skeleton, useComputedColorScheme } from "@mantine/core";
import { lazy, Suspense, useMemo } from "react";
import { formatDuration } from "@/lib/format";
import type { Point } from "@/lib/gaps";
import { words } from "@/words/charts";

const say = words.paceChart;

const EChart = lazy(() => import("./echart"));
const HEIGHT = 260;

interface PaceChartProps {
  label: string;
  produced: Point[];
  consumed: Point[];
  /** In how many seconds the first record that was unread would have expired. */
  horizon: Point[];
  formatRate: (recordsPerS: number) => string;
}

/** Always these, whatever else is drawn: told apart by most eyes in both schemes, and by their dashes. */
const INK = {
  light: { produced: "#0b6b80", consumed: "#2f7d32", horizon: "#b3261e", text: "#5a6673", line: "#e3e8ed" },
  dark: { produced: "#58bdd1", consumed: "#7fce83", horizon: "#ff9d94", text: "#97a4b3", line: "#26303b" },
} as const;
const NAMES = { produced: say.produced, consumed: say.consumed, horizon: say.firstUnreadRecordExpiresIn } as const;

/** What is written against what is read, and beside them how much time retention leaves; gaps stay gaps. */
export function PaceChart({ label, produced, consumed, horizon, formatRate }: PaceChartProps) {
  const scheme = useComputedColorScheme("light");
  const option = useMemo(() => {
    const ink = INK[scheme];
    const axis = { splitNumber: 4, min: 0, axisLabel: { color: ink.text, fontSize: 11 } };
    const line = (name: keyof typeof NAMES, points: Point[], isTime = false) => ({
      name: NAMES[name],
      type: "line",
      data: points,
      yAxisIndex: isTime ? 1 : 0,
      showSymbol: points.length < 3,
      symbolSize: 5,
      connectNulls: false,
      itemStyle: { color: ink[name] },
      lineStyle: { width: 1.8, color: ink[name], type: isTime ? "dashed" : "solid" },
      tooltip: {
        valueFormatter: (value: unknown) =>
          typeof value !== "number" ? say.notKnown : isTime ? formatDuration(value) : formatRate(value),
      },
    });
    return {
      animation: false,
      textStyle: { fontFamily: "'Inter Variable', system-ui, sans-serif" },
      grid: { left: 8, right: 8, top: 34, bottom: 4, containLabel: true },
      legend: {
        type: "scroll",
        top: 0,
        left: 4,
        icon: "roundRect",
        itemWidth: 12,
        itemHeight: 4,
        textStyle: { color: ink.text, fontSize: 12 },
      },
      tooltip: {
        trigger: "axis",
        appendTo: "body",
        backgroundColor: scheme === "dark" ? "#1a232c" : "#fff",
        borderColor: ink.line,
        textStyle: { color: scheme === "dark" ? "#d9dfe7" : "#18202a", fontSize: 12 },
      },
      xAxis: {
        type: "time",
        axisLine: { lineStyle: { color: ink.line } },
        axisTick: { show: false },
        axisLabel: { color: ink.text, fontSize: 11, hideOverlap: true },
      },
      yAxis: [
        {
          ...axis,
          type: "value",
          axisLabel: { ...axis.axisLabel, formatter: formatRate },
          splitLine: { lineStyle: { color: ink.line } },
        },
        {
          ...axis,
          type: "value",
          axisLabel: { ...axis.axisLabel, formatter: formatDuration },
          splitLine: { show: false },
        },
      ],
      series: [line("produced", produced), line("consumed", consumed), line("horizon", horizon, true)],
    };
  }, [scheme, produced, consumed, horizon, formatRate]);
  return (
    <Suspense fallback={<Skeleton height={HEIGHT} />}>
      <EChart option={option} height={HEIGHT} label={label} />
    </Suspense>
  );
}
