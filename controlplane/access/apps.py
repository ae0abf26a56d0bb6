from django.apps import AppConfig


class AccessConfig(AppConfig):
    name = "controlplane.access"
    label = "access"

    def ready(self) -> None:
        from controlplane.access.operations import (
            AclCreate,
            AclDelete,
            UserCreate,
            UserDelete,
        )
        from controlplane.access.rotation import UserRotate
        from controlplane.operations.operations import register

        for kind in (UserCreate(), UserDelete(), UserRotate(), AclCreate(), AclDelete()):
            register(kind)
