from django.apps import AppConfig


class ClustersConfig(AppConfig):
    name = "controlplane.clusters"
    label = "clusters"

    def ready(self) -> None:
        from controlplane.clusters.adding_log_dir import AddLogDirectory
        from controlplane.clusters.configuring import ClusterConfigure
        from controlplane.clusters.emptying_log_dir import EmptyLogDirectory
        from controlplane.clusters.operations import ClusterCreate, ClusterDelete
        from controlplane.clusters.readdressing import ChangeAddresses
        from controlplane.clusters.reconnecting import ChangeZooKeeper
        from controlplane.clusters.registering import ClusterCredentials, ClusterRegister
        from controlplane.clusters.replacing import ClusterReplaceBroker
        from controlplane.clusters.restarting import BrokerRestart
        from controlplane.clusters.rolling import ClusterRestart
        from controlplane.clusters.scaling_in import RemoveBrokers
        from controlplane.clusters.scaling_out import AddBrokers
        from controlplane.clusters.selectors import names_by_id
        from controlplane.clusters.sources import ClusterSource
        from controlplane.clusters.upgrading import ClusterFinalizeVersion, ClusterUpgrade
        from controlplane.observed.sources import use_source
        from controlplane.operations.operations import register
        from controlplane.operations.scopes import use_cluster_names

        use_source(ClusterSource())
        for kind in (
            ClusterCreate(),
            ClusterRegister(),
            ClusterCredentials(),
            ClusterDelete(),
            BrokerRestart(),
            ClusterRestart(),
            ClusterReplaceBroker(),
            ClusterConfigure(),
            AddBrokers(),
            RemoveBrokers(),
            ClusterUpgrade(),
            ClusterFinalizeVersion(),
            ChangeAddresses(),
            ChangeZooKeeper(),
            AddLogDirectory(),
            EmptyLogDirectory(),
        ):
            register(kind)
        use_cluster_names(names_by_id)
