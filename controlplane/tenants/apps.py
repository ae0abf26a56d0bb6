from django.apps import AppConfig


class TenantsConfig(AppConfig):
    name = "controlplane.tenants"
    label = "tenants"

    def ready(self) -> None:
        from controlplane.tenants import schema  # noqa: F401 - registers itself
