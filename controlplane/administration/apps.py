from django.apps import AppConfig


class AdministrationConfig(AppConfig):
    name = "controlplane.administration"
    label = "administration"
