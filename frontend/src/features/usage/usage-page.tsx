import { SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { CostFigure } from "@/components/cost";
import { InsightCard } from "@/components/insight-card";
import { Lines } from "@/components/card";
import { PageHeader } from "@/components/page-header";
import { Refused } from "@/components/refused";
import { type Stat, Stats } from "@/components/stats";
import { formatAmount } from "@/lib/format";
import { daysAgo, type TenantUsageRow, useTenantUsage } from "@/lib/insights";
import { isRefusal } from "@/lib/problem";
import { USAGE_DAYS, type UsageSpan } from "@/lib/search";
import { hasNothing, useTenantReadiness } from "@/lib/readiness";
import { useSession } from "@/lib/session";
import { words } from "@/words/usage";
import { FirstNumbers } from "./first-numbers";
import { ClusterUsageTable } from "./cluster-usage-table";

const say = words.usagePage;

const route = getRouteApi("/app/usage");
const ADDRESS = "/api/v1/analytics/usage";

const amount = (value: number | null) => (value === null ? say.notKnown : formatAmount(value));
const exact = (value: number | null, unit: string) => (value === null ? undefined : `${value} ${unit}`);

function figures(sum: TenantUsageRow, clusters: TenantUsageRow[]): Stat[] {
  return [
    { label: say.cost, value: <CostFigure row={sum} />, note: costNote(sum, clusters) },
    {
      label: say.heldAllCopies,
      value: amount(sum.gib_hours),
      note: say.gibH,
      title: exact(sum.gib_hours, say.gibH),
    },
    { label: say.written, value: amount(sum.gib_in), note: say.gib, title: exact(sum.gib_in, say.gib) },
    { label: say.read, value: amount(sum.gib_out), note: say.gib, title: exact(sum.gib_out, say.gib) },
    {
      label: say.topicsAndGroups,
      value: sum.as_of_ms === null ? say.notKnown : say.and(sum.topics, sum.groups),
      note: say.onClusters(clusters.length),
    },
  ];
}

/** Why the sum has no cost, or what it is made of. */
function costNote(sum: TenantUsageRow, clusters: TenantUsageRow[]): string {
  if (sum.cost !== null) return say.byThePriceBook;
  if (sum.cost_at_least !== null) return say.ofPartsItIsNot(sum.unknown_parts);
  const hasPrices = clusters.some((row) => row.cost_at_least !== null);
  return hasPrices ? say.inSeveralCurrenciesNotAdded : say.nothingKnownHasAPrice;
}

/** What the tenant used and what it costs: by cluster, and as a sum. */
export function UsagePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: session } = useSession();
  const last: UsageSpan = search.last ?? "30d";
  const usage = useTenantUsage(USAGE_DAYS[last]);
  const readiness = useTenantReadiness();
  // As long as no cluster has an hour there is nothing to add up: then it is said once what is waited for.
  const clusters = readiness.data?.data ?? [];
  const nothing = clusters.length > 0 && clusters.every(hasNothing) ? clusters : null;
  if (isRefusal(usage)) return <Refused error={usage.error} />;
  return (
    <>
      <PageHeader
        title={say.usageAndCost}
        sub={say.whatHeldWroteAndRead(session?.tenant?.name ?? say.theTenant)}
        actions={
          <SegmentedControl
            size="xs"
            aria-label={say.timeRangeOfUsage}
            data={Object.keys(USAGE_DAYS)}
            value={last}
            onChange={(value) =>
              void navigate({ search: { last: value === "30d" ? undefined : (value as UsageSpan) }, replace: true })
            }
          />
        }
      />
      {readiness.isPending ? (
        <Lines rows={4} />
      ) : nothing ? (
        <FirstNumbers clusters={nothing} />
      ) : (
        <InsightCard
          title={say.byCluster}
          query={usage}
          file={{ address: ADDRESS, blanks: {}, asked: { from: daysAgo(USAGE_DAYS[last]) } }}
          partial={say.ofSomeClustersNothingIs}
          empty={say.thereIsNoClusterThat}
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
      )}
    </>
  );
}
