"""Dynamic configuration on request: any broker describes and changes it, as in Kafka 3.9."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from dataplane.broker.metadata import logger_levels
from dataplane.broker.metadata.config_store import GROUPS
from dataplane.cluster.config_changes import (
    Change,
    altered,
    check_broker,
    check_group,
    check_tenant,
    check_topic,
)
from dataplane.cluster.config_entries import (
    ConfigEntry,
    broker_entries,
    default_broker_entries,
    group_entries,
    topic_entries,
)
from dataplane.cluster.topic_names import check_name
from dataplane.cluster.znodes import DEFAULT_ENTITY, sanitize
from dataplane.config import BROKER_CONFIGS, GROUP_CONFIGS, TOPIC_CONFIGS, ConfigError
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Mapping, Sequence

    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.config import BrokerConfig


_TENANTS_ONLY = "penstock.tenant.configs.only"


class Resource(enum.IntEnum):
    """Resource types of the configuration APIs that are served."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    GROUP = 32


def _nothing_to_check(_config: BrokerConfig, _changed: Collection[str]) -> None:
    pass


def _nothing_to_do() -> None:
    pass


class ConfigAdmin:
    """Describes and alters settings of topics, brokers and groups."""

    def __init__(
        self, configs: ConfigStore, metadata_cache: MetadataCache, *, broker_id: int
    ) -> None:
        self._configs = configs
        self._metadata_cache = metadata_cache
        self._broker_id = broker_id
        self._check: Callable[[BrokerConfig, Collection[str]], None] = _nothing_to_check
        self._applied: Callable[[], None] = _nothing_to_do

    def on_broker_change(
        self, check: Callable[[BrokerConfig, Collection[str]], None], applied: Callable[[], None]
    ) -> None:
        """Have part in changes of this broker's settings.

        `check(settings, changed)` raises ConfigError for settings that cannot be served, with the
        names of the keys that the request changes. `applied()` runs when a change is in force, also
        one that sets what was set before: so Kafka's tools have a file read again.
        """
        self._check, self._applied = check, applied

    def describe(
        self, resource_type: int, name: str, wanted: Container[str] | None
    ) -> list[ConfigEntry]:
        """KafkaError: UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION, INVALID_REQUEST."""
        configs = self._configs
        if resource_type == Resource.TOPIC:
            check_name(name)
            self._require_topic(name)
            config = configs.topic_config(name)
            return topic_entries(config, configs.broker_config, wanted)
        if resource_type == Resource.BROKER:
            if self._broker_entity(name) == DEFAULT_ENTITY:
                return default_broker_entries(configs.broker_overrides(None), wanted)
            return broker_entries(configs.broker_config, wanted)
        if resource_type == Resource.BROKER_LOGGER:
            self._require_own(name)
            return logger_levels.described(wanted)
        if resource_type == Resource.GROUP:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Group name must not be empty.")
            overrides = configs.overrides(GROUPS, sanitize(name))
            return group_entries(overrides, configs.broker_config, wanted)
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {resource_type}")

    async def alter(
        self,
        resource_type: int,
        name: str,
        changes: Sequence[Change],
        *,
        validate_only: bool,
        by_super_user: bool,
    ) -> None:
        """Apply single changes (KIP-339). Raises KafkaError."""
        if resource_type == Resource.BROKER_LOGGER:
            self._require_own(name)
            if not self._is_open(by_super_user=by_super_user):
                raise KafkaError(
                    ErrorCode.POLICY_VIOLATION,
                    "Loggers are not for users of this cluster to change.",
                )
            logger_levels.alter(changes, validate_only=validate_only)
            return
        await self._alter(
            resource_type,
            name,
            changes,
            lambda present: present,
            validate_only=validate_only,
            by_super_user=by_super_user,
        )

    async def replace(
        self,
        resource_type: int,
        name: str,
        changes: Sequence[Change],
        *,
        validate_only: bool,
        by_super_user: bool,
    ) -> None:
        """Replace all overrides, as the old AlterConfigs does. Raises KafkaError."""
        await self._alter(
            resource_type,
            name,
            changes,
            lambda _present: {},
            validate_only=validate_only,
            by_super_user=by_super_user,
        )

    async def _alter(
        self,
        resource_type: int,
        name: str,
        changes: Sequence[Change],
        base: Callable[[dict[str, str]], dict[str, str]],
        *,
        validate_only: bool,
        by_super_user: bool,
    ) -> None:
        configs = self._configs
        is_open = self._is_open(by_super_user=by_super_user)
        if resource_type == Resource.TOPIC:
            if not name:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed."
                )
            self._require_topic(name)
            entity_type, entity = "topics", name
        elif resource_type == Resource.BROKER:
            entity_type, entity = "brokers", self._broker_entity(name)
        elif resource_type == Resource.GROUP:
            if not name:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, "Default group resources are not allowed."
                )
            entity_type, entity = GROUPS, sanitize(name)
        else:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {resource_type}"
            )

        def change(present: dict[str, str]) -> Mapping[str, str]:
            after = self._changed(entity_type, entity, base(present), changes)
            if entity_type == "brokers" and not is_open:
                check_tenant(present, after)
            return after

        if validate_only:
            change(configs.overrides(entity_type, entity))
        else:
            await configs.update(entity_type, entity, change)
            if entity_type == "brokers":
                self._applied()

    def _changed(
        self, entity_type: str, entity: str, present: dict[str, str], changes: Sequence[Change]
    ) -> dict[str, str]:
        configs = self._configs
        if entity_type == "topics":
            effective = configs.topic_config(entity)
            overrides = altered(present, changes, TOPIC_CONFIGS, effective)
            check_topic(overrides, configs.broker_config)
            return overrides
        if entity_type == GROUPS:
            overrides = altered(present, changes, GROUP_CONFIGS, {})
            check_group(overrides, configs.broker_config)
            return overrides
        overrides = altered(present, changes, BROKER_CONFIGS, configs.broker_config)
        is_default = entity == DEFAULT_ENTITY
        after = check_broker(changes, overrides, configs.broker_config, cluster_wide=is_default)
        try:
            self._check(after, {change.name for change in changes} | {*present} ^ {*overrides})
        except ConfigError as error:
            raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from error
        return overrides

    def _is_open(self, *, by_super_user: bool) -> bool:
        """Whether more than a tenant's settings may be changed."""
        return by_super_user or not self._configs.broker_config.get_bool(_TENANTS_ONLY)

    def _require_topic(self, name: str) -> None:
        if name not in self._metadata_cache.image.topics:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Topic {name} does not exist.")

    def _broker_entity(self, name: str) -> str:
        """A broker answers for itself and for the default of all."""
        if not name:
            return DEFAULT_ENTITY
        self._require_own(name, or_else=" or empty string")
        return name

    def _require_own(self, name: str, or_else: str = "") -> None:
        if name != str(self._broker_id):
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"Unexpected broker id, expected {self._broker_id}{or_else}, but received {name}",
            )
