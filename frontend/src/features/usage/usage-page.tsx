import { SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { CostFigure } from "@/components/cost";
import { InsightCard } from "@/components/insight-card";
import { PageHeader } from "@/components/page-header";
import { Refused } from "@/components/refused";
import { type Stat, Stats } from "@/components/stats";
import { formatAmount, formatInteger, plural } from "@/lib/format";
import { daysAgo, type TenantUsageRow, useTenantUsage } from "@/lib/insights";
import { isRefusal } from "@/lib/problem";
import { USAGE_DAYS, type UsageSpan } from "@/lib/search";
import { useSession } from "@/lib/session";
import { ClusterUsageTable } from "./cluster-usage-table";

const route = getRouteApi("/app/usage");
const ADDRESS = "/api/v1/analytics/usage";

const amount = (value: number | null) => (value === null ? "not known" : formatAmount(value));
const exact = (value: number | null, unit: string) => (value === null ? undefined : `${value} ${unit}`);

function figures(sum: TenantUsageRow, clusters: TenantUsageRow[]): Stat[] {
  return [
    { label: "Cost", value: <CostFigure row={sum} />, note: costNote(sum, clusters) },
    {
      label: "Held, all copies",
      value: amount(sum.gib_hours),
      note: "GiB·h",
      title: exact(sum.gib_hours, "GiB·h"),
    },
    { label: "Written", value: amount(sum.gib_in), note: "GiB", title: exact(sum.gib_in, "GiB") },
    { label: "Read", value: amount(sum.gib_out), note: "GiB", title: exact(sum.gib_out, "GiB") },
    {
      label: "Topics and groups",
      value: sum.as_of_ms === null ? "not known" : `${formatInteger(sum.topics)} and ${formatInteger(sum.groups)}`,
      note: `on ${plural(clusters.length, "cluster")}`,
    },
  ];
}

/** Why the sum has no cost, or what it is made of. */
function costNote(sum: TenantUsageRow, clusters: TenantUsageRow[]): string {
  if (sum.cost !== null) return "by the price book";
  if (sum.cost_at_least !== null) return `of ${plural(sum.unknown_parts, "part")} it is not known`;
  const hasPrices = clusters.some((row) => row.cost_at_least !== null);
  return hasPrices ? "in several currencies: not added" : "nothing known has a price";
}

/** What the tenant used and what it costs: by cluster, and as a sum. */
export function UsagePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: session } = useSession();
  const last: UsageSpan = search.last ?? "30d";
  const usage = useTenantUsage(USAGE_DAYS[last]);
  if (isRefusal(usage)) return <Refused error={usage.error} />;
  return (
    <>
      <PageHeader
        title="Usage and cost"
        sub={`What ${session?.tenant?.name ?? "the tenant"} held, wrote and read, and what that costs.`}
        actions={
          <SegmentedControl
            size="xs"
            aria-label="Time range of usage"
            data={Object.keys(USAGE_DAYS)}
            value={last}
            onChange={(value) =>
              void navigate({ search: { last: value === "30d" ? undefined : (value as UsageSpan) }, replace: true })
            }
          />
        }
      />
      <InsightCard
        title="By cluster"
        query={usage}
        file={{ address: ADDRESS, blanks: {}, asked: { from: daysAgo(USAGE_DAYS[last]) } }}
        partial="Of some clusters nothing is known yet: the sum is without them."
        empty="There is no cluster that you may see."
      >
        {(rows) => {
          const sum = rows.find((row) => row.cluster_id === null);
          const clusters = rows.filter((row) => row.cluster_id !== null);
          return (
            <>
              {sum && <Stats items={figures(sum, clusters)} />}
              <ClusterUsageTable rows={clusters} />
            </>
          );
        }}
      </InsightCard>
    </>
  );
}
