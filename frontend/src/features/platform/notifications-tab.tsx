import { Stack } from "@mantine/core";
import { useState } from "react";
import { Card } from "@/components/card";
import type { TableView } from "@/components/data-table";
import { DeliveryTable } from "@/components/delivery-table";
import { DestinationList } from "@/components/destination-list";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { OPERATORS, useDeliveries } from "@/lib/destinations";
import { words } from "@/words/platform";

const say = words.notificationsTab;

/** Where operators are told of their hosts, and what was sent there; of one destination once it is chosen. */
export function NotificationsTab() {
  const [destination, setDestination] = useState<string>();
  const [view, setView] = useState<TableView>({});
  const query = useDeliveries({ destination_id: destination }, OPERATORS);
  return (
    <Stack gap="md">
      <DestinationList doors={OPERATORS} onDeliveries={setDestination} />
      <Card
        title={say.deliveries}
        aside={
          destination !== undefined && (
            <button type="button" className="ps-link" onClick={() => setDestination(undefined)}>
              {say.ofAll}
            </button>
          )
        }
      >
        <ListView query={query}>
          {(rows) => (
            <DeliveryTable
              deliveries={rows}
              doors={OPERATORS}
              view={view}
              onView={setView}
              empty={<Empty title={say.nothingWasSentYet}>{say.aDeliveryIsMadeOf}</Empty>}
            />
          )}
        </ListView>
      </Card>
    </Stack>
  );
}
