from django.apps import AppConfig


class GroupsConfig(AppConfig):
    name = "controlplane.groups"
    label = "groups"

    def ready(self) -> None:
        from controlplane.groups.deletion import GroupDelete
        from controlplane.groups.operations import OffsetReset, OffsetRestore
        from controlplane.operations.operations import register

        for kind in (OffsetReset(), OffsetRestore(), GroupDelete()):
            register(kind)
