from django.apps import AppConfig


class DriftConfig(AppConfig):
    name = "controlplane.drift"
    label = "drift"

    def ready(self) -> None:
        from controlplane.drift.selectors import sightings
        from controlplane.observed.sightings import use_sightings

        use_sightings(sightings)
