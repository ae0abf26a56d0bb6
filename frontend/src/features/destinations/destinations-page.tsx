import { Select, Tabs } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Card } from "@/components/card";
import { DeliveryTable } from "@/components/delivery-table";
import { DestinationList } from "@/components/destination-list";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { PageHeader } from "@/components/page-header";
import { useDeliveries, useDestinations } from "@/lib/destinations";
import type { DELIVERY_STATES } from "@/lib/search";
import { words } from "@/words/destinations";

const say = words.destinationsPage;

const route = getRouteApi("/app/destinations");

type State = (typeof DELIVERY_STATES)[number];

export function DestinationsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeader title={say.destinations} sub={say.whereAlertsAreSentEach} />
      <Tabs
        value={search.tab ?? "destinations"}
        keepMounted={false}
        onChange={(value) =>
          void navigate({ search: { tab: value === "deliveries" ? "deliveries" : undefined }, replace: true })
        }
      >
        <Tabs.List mb={12}>
          <Tabs.Tab value="destinations">{say.destinations}</Tabs.Tab>
          <Tabs.Tab value="deliveries">{say.deliveries}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="destinations">
          <DestinationList
            onDeliveries={(destination) => void navigate({ search: { tab: "deliveries", destination } })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="deliveries">
          <DeliveriesTab />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function DeliveriesTab() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const destinations = useDestinations();
  const query = useDeliveries({ state: search.state, destination_id: search.destination });
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, page: undefined, ...next }), replace: true });
  const isFiltered = search.state !== undefined || search.destination !== undefined;
  return (
    <Card>
      <div className="ps-toolbar">
        <Select
          size="xs"
          w={160}
          aria-label={say.state}
          placeholder={say.anyState}
          clearable
          data={[
            { value: "dead", label: say.deadLetters },
            { value: "retrying", label: say.retrying },
            { value: "pending", label: say.waiting },
            { value: "sent", label: say.sent },
          ]}
          value={search.state ?? null}
          onChange={(value) => change({ state: (value as State | null) ?? undefined })}
        />
        <Select
          size="xs"
          w={190}
          aria-label={say.destination}
          placeholder={say.anyDestination}
          clearable
          data={(destinations.data?.data ?? []).map((row) => ({ value: row.id, label: row.name }))}
          value={search.destination ?? null}
          onChange={(value) => change({ destination: value ?? undefined })}
        />
      </div>
      <ListView query={query}>
        {(rows) => (
          <DeliveryTable
            deliveries={rows}
            view={search}
            onView={(view) => void navigate({ search: (old) => ({ ...old, ...view }), replace: true })}
            empty={
              isFiltered ? (
                <Empty title={say.noDeliveryMatches}>{say.changeTheFiltersAbove}</Empty>
              ) : (
                <Empty title={say.nothingWasSentYet}>{say.aDeliveryIsMadeOf}</Empty>
              )
            }
          />
        )}
      </ListView>
    </Card>
  );
}
