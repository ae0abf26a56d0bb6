from django.apps import AppConfig


class AnalyticsConfig(AppConfig):
    name = "controlplane.analytics"
    label = "analytics"
