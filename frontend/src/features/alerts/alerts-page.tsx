import { SegmentedControl, Select, Tabs } from "@mantine/core";
import { IconBellCheck } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { Card } from "@/components/card";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { PageHeader } from "@/components/page-header";
import { SearchBox } from "@/components/search-box";
import { useAlerts } from "@/lib/alerts";
import { ALERT_TABS } from "@/lib/search";
import type { Alert } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";
import { words } from "@/words/alerts";
import { AlertTable } from "./alert-table";
import { RulesTab } from "./rules-tab";
import { SilencesTab } from "./silences-tab";

const say = words.alertsPage;

const route = getRouteApi("/app/alerts");

const STATES = [
  { value: "open", label: say.open },
  { value: "resolved", label: say.resolved },
  { value: "all", label: say.all },
] as const;

const matches = (alert: Alert, needle: string): boolean =>
  `${alert.title} ${alert.summary} ${alert.rule} ${alert.subject} ${alert.cluster ?? ""}`
    .toLowerCase()
    .includes(needle);

export function AlertsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeader title={say.alerts} sub={say.whatIsWrongToldOnce} />
      <Tabs
        value={search.tab ?? "alerts"}
        keepMounted={false}
        onChange={(value) =>
          void navigate({ search: { tab: ALERT_TABS.find((item) => item === value) }, replace: true })
        }
      >
        <Tabs.List mb={12}>
          <Tabs.Tab value="alerts">{say.alerts}</Tabs.Tab>
          <Tabs.Tab value="rules">{say.rules}</Tabs.Tab>
          <Tabs.Tab value="silences">{say.silences}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="alerts">
          <AlertsTab />
        </Tabs.Panel>
        <Tabs.Panel value="rules">
          <RulesTab />
        </Tabs.Panel>
        <Tabs.Panel value="silences">
          <SilencesTab />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function AlertsTab() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const state = search.state ?? "open";
  const query = useAlerts({
    state: state === "all" ? undefined : state,
    severity: search.severity,
    cluster_id: search.cluster,
  });
  const clusters = useOverview().data?.parts.clusters.data ?? [];
  const needle = search.q?.toLowerCase() ?? "";
  type Change = Partial<typeof search>;
  const change = (next: Change) =>
    void navigate({ search: (old) => ({ ...old, page: undefined, ...next }), replace: true });
  const filtered = needle !== "" || search.severity !== undefined || search.cluster !== undefined;
  return (
    <Card>
      <div className="ps-toolbar">
        <SearchBox value={search.q ?? ""} label={say.searchAlerts} onChange={(q) => change({ q: q || undefined })} />
        <SegmentedControl
          size="xs"
          aria-label={say.state}
          data={[...STATES]}
          value={state}
          onChange={(value) => change({ state: value === "open" ? undefined : (value as Change["state"]) })}
        />
        <Select
          size="xs"
          w={150}
          aria-label={say.severity}
          placeholder={say.anySeverity}
          clearable
          data={[
            { value: "critical", label: say.critical },
            { value: "warning", label: say.warning },
            { value: "info", label: say.info },
          ]}
          value={search.severity ?? null}
          onChange={(value) => change({ severity: (value as Change["severity"]) ?? undefined })}
        />
        {(clusters.length > 1 || search.cluster) && (
          <Select
            size="xs"
            w={170}
            aria-label={say.ofCluster}
            placeholder={say.anyCluster}
            clearable
            data={clusters.map((cluster) => ({ value: cluster.id, label: cluster.name }))}
            value={search.cluster ?? null}
            onChange={(value) => change({ cluster: value ?? undefined })}
          />
        )}
      </div>
      <ListView query={query}>
        {(rows) => (
          <AlertTable
            alerts={rows.filter((alert) => matches(alert, needle))}
            view={search}
            onView={(view) => void navigate({ search: (old) => ({ ...old, ...view }), replace: true })}
            empty={
              filtered && (rows.length > 0 || search.severity || search.cluster) ? (
                <Empty title={say.noAlertMatches}>{say.changeTheSearchOrThe}</Empty>
              ) : (
                <Empty icon={<IconBellCheck size={20} />} title={state === "open" ? say.noAlertFires : say.noAlerts}>
                  {state === "open" ? say.nothingThatTheRulesAsk : say.resolvedAlertsAreKeptFor}
                </Empty>
              )
            }
          />
        )}
      </ListView>
    </Card>
  );
}
