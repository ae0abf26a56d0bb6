import { Card } from "@/components/card";
import { DeliveryTable } from "@/components/delivery-table";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { useDeliveries } from "@/lib/destinations";
import { words } from "@/words/alerts";

const say = words.alertDeliveries;

/** To whom an alert was told, and what came of it. */
export function AlertDeliveries({ alertId }: { alertId: string }) {
  const query = useDeliveries({ alert_id: alertId });
  return (
    <Card title={say.deliveries}>
      <ListView query={query}>
        {(rows) => (
          <DeliveryTable
            deliveries={rows}
            ofAlert
            empty={<Empty title={say.noNotificationsWereSent}>{say.noDestinationWantsAlertsLike}</Empty>}
          />
        )}
      </ListView>
    </Card>
  );
}
