"""The cluster's topics as consumer groups see them, from this broker's metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.cluster.topic_names import INTERNAL_TOPICS
from dataplane.groups.consumer.group import TopicInfo

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable

    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.cluster.image import ClusterImage


class MetadataTopics:
    """`version` grows when a topic comes, goes, or gets partitions, not when a leader changes."""

    def __init__(self, metadata_cache: MetadataCache) -> None:
        self._metadata_cache = metadata_cache
        self._version = 0
        self._names: dict[uuid.UUID, str] = {}
        self._take_names(metadata_cache.image)

    @property
    def version(self) -> int:
        return self._version

    def get(self, name: str) -> TopicInfo | None:
        topic = self._metadata_cache.image.topics.get(name)
        return None if topic is None else TopicInfo(topic.topic_id, len(topic.partitions))

    def name_of(self, topic_id: uuid.UUID) -> str | None:
        return self._names.get(topic_id)

    def matchable(self) -> Iterable[str]:
        return [name for name in self._metadata_cache.image.topics if name not in INTERNAL_TOPICS]

    def on_change(self, before: ClusterImage, after: ClusterImage) -> None:
        if before.topics is after.topics:
            return
        was, now = before.topics, after.topics
        is_alike = len(was) == len(now) and all(
            (known := was.get(name)) is topic
            or (
                known is not None
                and known.topic_id == topic.topic_id
                and len(known.partitions) == len(topic.partitions)
            )
            for name, topic in now.items()
        )
        if not is_alike:
            self._version += 1
            self._take_names(after)

    def _take_names(self, image: ClusterImage) -> None:
        self._names = {topic.topic_id: name for name, topic in image.topics.items()}
