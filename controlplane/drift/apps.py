from django.apps import AppConfig


class DriftConfig(AppConfig):
    name = "controlplane.drift"
    label = "drift"
