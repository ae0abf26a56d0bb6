from django.apps import AppConfig


class TimelineConfig(AppConfig):
    name = "controlplane.timeline"
    label = "timeline"

    def ready(self) -> None:
        from controlplane.observed.listeners import use_listener
        from controlplane.timeline.services import record

        use_listener(record)
