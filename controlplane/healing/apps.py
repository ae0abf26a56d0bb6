from django.apps import AppConfig


class HealingConfig(AppConfig):
    name = "controlplane.healing"
    label = "healing"
