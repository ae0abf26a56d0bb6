import { type Stat, Stats } from "@/components/stats";
import { formatBytes } from "@/lib/format";
import type { ForecastRow } from "@/lib/insights";
import { formatShare } from "@/lib/readings";

const VERDICTS: Record<ForecastRow["verdict"], string> = {
  growing: "growing",
  not_growing: "not growing",
  unknown: "not known",
};

const dayCount = (days: number | null): string => (days === null ? "not known" : `${Math.round(days)} days`);
const rate = (bytes: number | null): string => (bytes === null ? "not known" : `${formatBytes(bytes)} a day`);

/** Days until the disks are at 80 %: the middle of what is likely, and its two ends. */
export function Forecast({ row }: { row: ForecastRow }) {
  const items: Stat[] = [
    {
      label: "To 80 %",
      value: dayCount(row.days_to_80_p50),
      note:
        row.days_to_80_p50 === null
          ? row.capacity_bytes === null
            ? "say what the disks hold"
            : VERDICTS[row.verdict]
          : `${dayCount(row.days_to_80_p10)} to ${dayCount(row.days_to_80_p90)}`,
    },
    {
      label: "Growth",
      value: rate(row.growth_bytes_per_day_p50),
      note: `${rate(row.growth_bytes_per_day_p10)} to ${rate(row.growth_bytes_per_day_p90)}`,
    },
    { label: "Held by all copies", value: row.disk_bytes === null ? "not known" : formatBytes(row.disk_bytes) },
    {
      label: "Used",
      value: row.used_share === null ? "not known" : formatShare(row.used_share),
      note: row.capacity_bytes === null ? "of an unknown size" : `of ${formatBytes(row.capacity_bytes)}`,
    },
    { label: "Judged by", value: `${row.days} days`, note: VERDICTS[row.verdict] },
  ];
  return <Stats items={items} />;
}
