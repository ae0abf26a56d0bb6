import { Card } from "@/components/card";
import { DeliveryTable } from "@/components/delivery-table";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { useDeliveries } from "@/lib/destinations";

/** To whom an alert was told, and what came of it. */
export function AlertDeliveries({ alertId }: { alertId: string }) {
  const query = useDeliveries({ alert_id: alertId });
  return (
    <Card title="Deliveries">
      <ListView query={query}>
        {(rows) => (
          <DeliveryTable
            deliveries={rows}
            ofAlert
            empty={
              <Empty title="No notifications were sent">
                No destination wants alerts like this one, or it was silenced from its beginning.
              </Empty>
            }
          />
        )}
      </ListView>
    </Card>
  );
}
