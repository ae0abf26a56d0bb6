from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "controlplane.notifications"
    label = "notifications"

    def ready(self) -> None:
        from controlplane.healing.telling import use_teller
        from controlplane.notifications.proposals import tell_of_proposal

        use_teller(self.label, tell_of_proposal)
