"""Sends consumers to a replica on their own rack, if `replica.selector.class` says so (KIP-392)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.replication.selection import Candidate, nearest

if TYPE_CHECKING:
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.replicas.partition import Partition
    from dataplane.config import BrokerConfig

RACK_AWARE: Final = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
NONE_PREFERRED: Final = -1


class ReadReplicas:
    """`is_active` is False when everybody reads from leaders, which is the default."""

    def __init__(
        self, metadata_cache: MetadataCache, config: BrokerConfig, *, broker_id: int
    ) -> None:
        self._metadata_cache = metadata_cache
        self._broker_id = broker_id
        self._rack = config.get_str("broker.rack") or None
        self.is_active = config.get_str("replica.selector.class") == RACK_AWARE

    def preferred(
        self, partition: Partition, *, rack: str, listener_name: str, fetch_offset: int
    ) -> int:
        """The broker to read from instead of this leader, NONE_PREFERRED to stay here.

        Followers count that are in sync, alive on the consumer's listener, and have the offset.
        """
        brokers = self._metadata_cache.image.brokers
        followers = [
            Candidate(broker_id, brokers[broker_id].rack, log_end_offset, behind_ms)
            for broker_id, log_end_offset, behind_ms in partition.followers_with(fetch_offset)
            if broker_id in brokers and listener_name in brokers[broker_id].listeners
        ]
        me = Candidate(self._broker_id, self._rack, partition.log.log_end_offset, 0)
        chosen = nearest(rack, me, followers)
        return NONE_PREFERRED if chosen == self._broker_id else chosen
