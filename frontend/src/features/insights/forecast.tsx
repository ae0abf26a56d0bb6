import { Quantity } from "@/components/quantity";
import { type Stat, Stats } from "@/components/stats";
import type { ForecastRow } from "@/lib/insights";

const VERDICTS: Record<ForecastRow["verdict"], string> = {
  growing: "growing",
  not_growing: "not growing",
  unknown: "not known",
};

const dayCount = (days: number | null): string => (days === null ? "not known" : `${Math.round(days)} days`);
const rate = (bytes: number | null, isKey = false) => (
  <>
    <Quantity of="bytes" value={bytes} none="not known" isKey={isKey} />
    {bytes !== null && " a day"}
  </>
);

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
      value: rate(row.growth_bytes_per_day_p50, true),
      note: (
        <>
          {rate(row.growth_bytes_per_day_p10)} to {rate(row.growth_bytes_per_day_p90)}
        </>
      ),
    },
    { label: "Held by all copies", value: <Quantity of="bytes" value={row.disk_bytes} none="not known" isKey /> },
    {
      label: "Used",
      value: <Quantity of="share" value={row.used_share} none="not known" isKey />,
      note: (
        <>
          of <Quantity of="bytes" value={row.capacity_bytes} none="an unknown size" />
        </>
      ),
    },
    { label: "Judged by", value: `${row.days} days`, note: VERDICTS[row.verdict] },
  ];
  return <Stats items={items} />;
}
