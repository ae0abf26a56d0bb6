"""Client quotas as ZooKeeper holds them: described and altered by any broker, as in Kafka 3.9."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.quotas.entities import Entity, entity_at, place_of
from dataplane.quotas.overrides import altered, quotas_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.quotas.filters import Filter
    from dataplane.quotas.overrides import Change


class ClientQuotas:
    """Quotas of users, client ids and addresses, as this broker's ConfigStore knows them."""

    def __init__(self, configs: ConfigStore) -> None:
        self._configs = configs

    def describe(self, wanted: Filter) -> list[tuple[Entity, dict[str, float]]]:
        """Entities that have quotas, with these by key, in the order of their names."""
        return [(entity, quotas) for entity, quotas in self._all() if wanted.matches(entity)]

    async def alter(
        self, entity: Entity, changes: Iterable[Change], *, validate_only: bool
    ) -> None:
        """Change an entity's quotas, on every broker. KafkaError, CoordinatorError."""
        entity_type, node = place_of(entity)
        changes = list(changes)
        if validate_only:
            altered(entity, self._configs.overrides(entity_type, node), changes)
            return
        await self._configs.update(
            entity_type, node, lambda present: altered(entity, present, changes)
        )

    def _all(self) -> Iterator[tuple[Entity, dict[str, float]]]:
        for entity_type in sorted(self._configs.entity_types()):
            for node in self._configs.entities(entity_type):
                entity = entity_at(entity_type, node)
                if entity is None:
                    break
                quotas = quotas_in(entity, self._configs.overrides(entity_type, node))
                if quotas:
                    yield entity, quotas
