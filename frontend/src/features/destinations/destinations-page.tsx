import { Select, Tabs } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Card } from "@/components/card";
import { DeliveryTable } from "@/components/delivery-table";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { PageHeader } from "@/components/page-header";
import { useDeliveries, useDestinations } from "@/lib/destinations";
import type { DELIVERY_STATES } from "@/lib/search";
import { DestinationsTab } from "./destinations-tab";

const route = getRouteApi("/app/destinations");

type State = (typeof DELIVERY_STATES)[number];

export function DestinationsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeader title="Destinations" sub="Where alerts are sent, each at least once, and the result." />
      <Tabs
        value={search.tab ?? "destinations"}
        keepMounted={false}
        onChange={(value) =>
          void navigate({ search: { tab: value === "deliveries" ? "deliveries" : undefined }, replace: true })
        }
      >
        <Tabs.List mb={12}>
          <Tabs.Tab value="destinations">Destinations</Tabs.Tab>
          <Tabs.Tab value="deliveries">Deliveries</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="destinations">
          <DestinationsTab
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
          aria-label="State"
          placeholder="Any state"
          clearable
          data={[
            { value: "dead", label: "Dead letters" },
            { value: "retrying", label: "Retrying" },
            { value: "pending", label: "Waiting" },
            { value: "sent", label: "Sent" },
          ]}
          value={search.state ?? null}
          onChange={(value) => change({ state: (value as State | null) ?? undefined })}
        />
        <Select
          size="xs"
          w={190}
          aria-label="Destination"
          placeholder="Any destination"
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
                <Empty title="No delivery matches">Change the filters above.</Empty>
              ) : (
                <Empty title="Nothing was sent yet">
                  A delivery is made of each change of an alert, for each destination that wants it. They are kept for
                  30 days.
                </Empty>
              )
            }
          />
        )}
      </ListView>
    </Card>
  );
}
