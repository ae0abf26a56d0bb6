import "@mantine/core/styles/Notification.css";
import "@mantine/notifications/styles.css";
import { Notifications } from "@mantine/notifications";

export default function BottomNotifications() {
  return <Notifications position="bottom-right" />;
}
