"""The replication quotas of this broker, as its dynamic configuration says at any moment.

The bounds are `leader/follower.replication.throttled.rate`, of this broker before those of all
brokers; the lists are `leader/follower.replication.throttled.replicas` of each topic. As in Kafka,
a rate in the broker's properties file is not obeyed: a throttle belongs to a move, not to a broker.
"""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING

from dataplane.cluster.znodes import DEFAULT_ENTITY
from dataplane.config import BROKER_CONFIGS, ConfigError
from dataplane.replication.quota import UNLIMITED, ReplicationQuota, throttled_here

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metrics import Metrics
    from dataplane.ports.clock import Clock

_log = logging.getLogger(__name__)


class ReplicationQuotas:
    """`leader` bounds what is sent to followers, `follower` what is fetched from leaders."""

    def __init__(
        self, configs: ConfigStore, clock: Clock, metrics: Metrics, *, broker_id: int
    ) -> None:
        self._configs = configs
        self._broker_id = broker_id
        self._listeners: list[Callable[[], None]] = []
        config = configs.broker_config
        samples = config.get_int("replication.quota.window.num")
        sample_ms = 1000 * config.get_int("replication.quota.window.size.seconds")
        self.leader = ReplicationQuota(clock, samples=samples, sample_ms=sample_ms)
        self.follower = ReplicationQuota(clock, samples=samples, sample_ms=sample_ms)
        self._by_role = {"leader": self.leader, "follower": self.follower}
        self._take_bounds()
        for topic in configs.entities("topics"):
            self._take_topic(topic)
        configs.on_change(self._changed)
        self._register_metrics(metrics)

    def on_change(self, listener: Callable[[], None]) -> None:
        """`listener()` runs on the loop after a bound or a list may have changed."""
        self._listeners.append(listener)

    def _changed(self, entity_type: str, name: str) -> None:
        if entity_type == "topics":
            self._take_topic(name)
        elif entity_type == "brokers" and name in (DEFAULT_ENTITY, str(self._broker_id)):
            self._take_bounds()
        else:
            return
        for listener in self._listeners:
            listener()

    def _take_bounds(self) -> None:
        layers = (
            self._configs.broker_overrides(self._broker_id),
            self._configs.broker_overrides(None),
        )
        for role, quota in self._by_role.items():
            quota.bound_bytes_per_s = _bound(f"{role}.replication.throttled.rate", layers)

    def _take_topic(self, topic: str) -> None:
        config = self._configs.topic_config(topic)
        for role, quota in self._by_role.items():
            listed = config.get_list(f"{role}.replication.throttled.replicas")
            quota.throttle(topic, throttled_here(listed, self._broker_id))

    def _register_metrics(self, metrics: Metrics) -> None:
        def by_role(read: Callable[[ReplicationQuota], float]) -> Callable[[], Mapping[str, float]]:
            return lambda: {role: read(quota) for role, quota in self._by_role.items()}

        metrics.gauge(
            "penstock_throttled_replication_bytes",
            "Bytes of throttled replicas sent as leader and fetched as follower, since the start.",
            by_role(lambda quota: quota.bytes_total),
            labels=("role",),
        )
        for role, quota in self._by_role.items():
            metrics.gauge(
                f"kafka_server_{role}replication_byte_rate",
                f"Bytes a second of throttled replicas as {role}, over the quotas' window.",
                functools.partial(getattr, quota, "bytes_per_s"),
            )
        metrics.gauge(
            "penstock_throttled_replication_limit_bytes_per_second",
            "Bound of that rate; about 9.2e18 when there is none.",
            by_role(lambda quota: quota.bound_bytes_per_s),
            labels=("role",),
        )


def _bound(key: str, layers: tuple[Mapping[str, str], ...]) -> int:
    for overrides in layers:
        if key not in overrides:
            continue
        try:
            bound = BROKER_CONFIGS[key].parse(overrides[key])
        except ConfigError as error:
            _log.warning("a throttle that cannot be understood is passed over: %s", error)
            continue
        if isinstance(bound, int):
            return bound
    return UNLIMITED
