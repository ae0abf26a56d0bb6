"""What the fetchers of one broker share."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.broker.broker_lifecycle import BrokerLifecycle
    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.config import BrokerConfig
    from dataplane.replication.quota import ReplicationQuota


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FetcherContext:
    """`quota` bounds what all of them fetch of throttled replicas."""

    lifecycle: BrokerLifecycle
    configs: ConfigStore
    peers: PeerPool
    metrics: Metrics
    quota: ReplicationQuota

    @property
    def config(self) -> BrokerConfig:
        """This broker's settings, the dynamic ones as they are now."""
        return self.configs.broker_config
