from django.apps import AppConfig


class ClustersConfig(AppConfig):
    name = "controlplane.clusters"
    label = "clusters"

    def ready(self) -> None:
        from controlplane.clusters.operations import ClusterCreate, ClusterDelete
        from controlplane.clusters.registering import ClusterCredentials, ClusterRegister
        from controlplane.operations.operations import register

        for kind in (ClusterCreate(), ClusterRegister(), ClusterCredentials(), ClusterDelete()):
            register(kind)
