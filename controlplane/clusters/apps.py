from django.apps import AppConfig


class ClustersConfig(AppConfig):
    name = "controlplane.clusters"
    label = "clusters"

    def ready(self) -> None:
        from controlplane.clusters.kinds import ClusterCreate, ClusterDelete, ClusterRegister
        from controlplane.operations.kinds import register

        for kind in (ClusterCreate(), ClusterRegister(), ClusterDelete()):
            register(kind)
