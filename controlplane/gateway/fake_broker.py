"""One broker of the fake cluster, as it sees the cluster: maybe older than the others do."""

from collections.abc import Collection, Mapping
from typing import Protocol

from controlplane.gateway.port import BrokerView
from controlplane.gateway.types import (
    AclBinding,
    ClientQuota,
    ConfigEntry,
    ScramCredential,
    TopicDescription,
)


class FakeCluster(BrokerView, Protocol):
    """What a broker needs of the fake whose broker it is."""

    def check_answers(self, broker: int) -> None: ...
    def note_call(self, method: str) -> None: ...


class FakeBroker:
    """`answers`: raises when this broker does not. `seen`: the cluster as this broker knows it."""

    def __init__(self, broker: int, cluster: FakeCluster, seen: BrokerView) -> None:
        self._broker = broker
        self._cluster = cluster
        self._seen = seen

    def describe_topics(self, names: Collection[str]) -> dict[str, TopicDescription]:
        return self._asked("describe_topics").describe_topics(names)

    def topic_configs(
        self, names: Collection[str], keys: Collection[str] | None = None
    ) -> dict[str, list[ConfigEntry]]:
        return self._asked("topic_configs").topic_configs(names, keys)

    def broker_configs(
        self, broker_ids: Collection[int], keys: Collection[str] | None = None
    ) -> dict[int, list[ConfigEntry]]:
        return self._asked("broker_configs").broker_configs(broker_ids, keys)

    def alter_broker_configs(self, broker_id: int, changes: Mapping[str, str | None]) -> None:
        self._cluster.check_answers(self._broker)
        self._cluster.alter_broker_configs(broker_id, changes)

    def list_users(self) -> list[ScramCredential]:
        return self._asked("list_users").list_users()

    def list_acls(self) -> list[AclBinding]:
        return self._asked("list_acls").list_acls()

    def list_quotas(self) -> list[ClientQuota]:
        return self._asked("list_quotas").list_quotas()

    def _asked(self, method: str) -> BrokerView:
        self._cluster.check_answers(self._broker)
        if self._seen is not self._cluster:
            self._cluster.note_call(method)
        return self._seen
