from django.apps import AppConfig


class TopicsConfig(AppConfig):
    name = "controlplane.topics"
    label = "topics"

    def ready(self) -> None:
        from controlplane.clusters.unfinished import use_unfinished
        from controlplane.operations.operations import register
        from controlplane.topics.emptying import TopicEmpty
        from controlplane.topics.operations import (
            TopicCreate,
            TopicDelete,
            TopicPartitions,
            TopicUpdate,
        )
        from controlplane.topics.retention import (
            RetentionLeaseBegin,
            RetentionRestore,
            leases_left,
        )

        topics = (TopicCreate(), TopicUpdate(), TopicPartitions(), TopicDelete(), TopicEmpty())
        for kind in (*topics, RetentionLeaseBegin(), RetentionRestore()):
            register(kind)
        use_unfinished(leases_left)
