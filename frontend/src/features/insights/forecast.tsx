import { Quantity } from "@/components/quantity";
import { type Stat, Stats } from "@/components/stats";
import type { ForecastRow } from "@/lib/insights";
import { words } from "@/words/insights";

const say = words.forecast;

const VERDICTS: Record<ForecastRow["verdict"], string> = {
  growing: "growing",
  not_growing: say.notGrowing,
  unknown: say.notKnown,
};

const dayCount = (days: number | null): string => (days === null ? say.notKnown : say.days(Math.round(days)));
const rate = (bytes: number | null, isKey = false) =>
  bytes === null ? say.notKnown : say.aDay(<Quantity of="bytes" value={bytes} isKey={isKey} />);

/** Days until the disks are at 80 %: the middle of what is likely, and its two ends. */
export function Forecast({ row }: { row: ForecastRow }) {
  const items: Stat[] = [
    {
      label: say.to80,
      value: dayCount(row.days_to_80_p50),
      note:
        row.days_to_80_p50 === null
          ? row.capacity_bytes === null
            ? say.sayWhatTheDisksHold
            : VERDICTS[row.verdict]
          : say.to(dayCount(row.days_to_80_p10), dayCount(row.days_to_80_p90)),
    },
    {
      label: say.growth,
      value: rate(row.growth_bytes_per_day_p50, true),
      note: say.to2(rate(row.growth_bytes_per_day_p10), rate(row.growth_bytes_per_day_p90)),
    },
    { label: say.heldByAllCopies, value: <Quantity of="bytes" value={row.disk_bytes} none={say.notKnown} isKey /> },
    {
      label: say.used,
      value: <Quantity of="share" value={row.used_share} none={say.notKnown} isKey />,
      note:
        row.capacity_bytes === null
          ? say.ofAnUnknownSize
          : say.ofWord(<Quantity of="bytes" value={row.capacity_bytes} />),
    },
    { label: say.judgedBy, value: say.days(row.days), note: VERDICTS[row.verdict] },
  ];
  return <Stats items={items} />;
}
