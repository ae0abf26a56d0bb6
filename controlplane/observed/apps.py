from django.apps import AppConfig


class ObservedConfig(AppConfig):
    name = "controlplane.observed"
    label = "observed"
