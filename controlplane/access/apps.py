from django.apps import AppConfig


class AccessConfig(AppConfig):
    name = "controlplane.access"
    label = "access"

    def ready(self) -> None:
        from controlplane.access.client_quotas import QuotaSet
        from controlplane.access.operations import (
            AclCreate,
            AclDelete,
            UserCreate,
            UserDelete,
        )
        from controlplane.access.rotation import UserRetire, UserRotate, overlaps_left
        from controlplane.clusters.unfinished import use_unfinished
        from controlplane.operations.operations import register

        users = (UserCreate(), UserDelete(), UserRotate(), UserRetire())
        for kind in (*users, AclCreate(), AclDelete(), QuotaSet()):
            register(kind)
        use_unfinished(overlaps_left)
