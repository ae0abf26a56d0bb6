from django.apps import AppConfig


class TopicsConfig(AppConfig):
    name = "controlplane.topics"
    label = "topics"

    def ready(self) -> None:
        from controlplane.operations.operations import register
        from controlplane.topics.operations import (
            TopicCreate,
            TopicDelete,
            TopicPartitions,
            TopicUpdate,
        )

        for kind in (TopicCreate(), TopicUpdate(), TopicPartitions(), TopicDelete()):
            register(kind)
