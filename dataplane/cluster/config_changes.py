"""Changes of dynamic configuration: what an entity's overrides become, or why not. Pure."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dataplane.config import (
    BROKER_CONFIGS,
    BrokerConfig,
    ConfigError,
    ConfigKey,
    ConfigType,
    GroupConfig,
    Scope,
    TopicConfig,
    check_dynamic,
    check_thread_counts,
)
from dataplane.model.errors import ErrorCode, KafkaError


class Operation(enum.IntEnum):
    """As IncrementalAlterConfigs spells it. APPEND and SUBTRACT are for lists."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Change(NamedTuple):
    """One key's change. `value` is None only to delete."""

    name: str
    operation: Operation
    value: str | None


def changes_from(items: Iterable[tuple[str, int, str | None]]) -> list[Change]:
    """Check a request's form. Raises KafkaError(INVALID_REQUEST)."""
    changes: list[Change] = []
    seen: set[str] = set()
    for name, operation, value in items:
        if name in seen:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"Error due to duplicate config keys : {name}"
            )
        seen.add(name)
        if operation not in list(Operation):
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown operation {operation}.")
        if value is None and operation != Operation.DELETE:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {name}")
        changes.append(Change(name, Operation(operation), value))
    return changes


def altered(
    present: Mapping[str, str],
    changes: Iterable[Change],
    keys: Mapping[str, ConfigKey],
    effective: Mapping[str, object],
) -> dict[str, str]:
    """The overrides after the changes. Raises KafkaError.

    APPEND and SUBTRACT start from the override, or from what is in force without one.
    """
    result = dict(present)
    for change in changes:
        if change.operation is Operation.DELETE:
            result.pop(change.name, None)
            continue
        text = change.value or ""
        if change.operation is not Operation.SET:
            text = _edited(change, text, result, keys, effective)
        result[change.name] = text
    return result


def _edited(
    change: Change,
    text: str,
    present: Mapping[str, str],
    keys: Mapping[str, ConfigKey],
    effective: Mapping[str, object],
) -> str:
    key = keys.get(change.name)
    if key is not None and key.type is not ConfigType.LIST:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"Config value {change.operation.name.lower()} is not allowed for config key: "
            f"{change.name}",
        )
    if change.name in present:
        items = [item.strip() for item in present[change.name].split(",") if item.strip()]
    else:
        inherited = effective.get(change.name, ())
        items = list(inherited) if isinstance(inherited, tuple) else []
    given = [item.strip() for item in text.split(",") if item.strip()]
    if change.operation is Operation.APPEND:
        return ",".join([*items, *(item for item in given if item not in items)])
    return ",".join(item for item in items if item not in given)


def check_topic(overrides: Mapping[str, str], broker: BrokerConfig) -> TopicConfig:
    """The topic's settings with these overrides. Raises KafkaError(INVALID_CONFIG)."""
    try:
        return TopicConfig.parse(overrides, broker)
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from error


def check_group(overrides: Mapping[str, str], broker: BrokerConfig) -> GroupConfig:
    """The group's settings with these overrides. Raises KafkaError(INVALID_CONFIG)."""
    try:
        return GroupConfig.parse(overrides, broker)
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from error


def check_broker(
    changes: Iterable[Change],
    overrides: Mapping[str, str],
    broker: BrokerConfig,
    *,
    cluster_wide: bool,
) -> BrokerConfig:
    """This broker's settings when these keys have changed so. Raises KafkaError(INVALID_CONFIG)."""
    try:
        for change in changes:
            key = check_dynamic(change.name, overrides.get(change.name), cluster_wide=cluster_wide)
            if key.is_sensitive and change.name in overrides:
                raise ConfigError(
                    change.name, "[hidden]", "secrets are not stored unencrypted in ZooKeeper"
                )
        if cluster_wide:
            after = broker.with_dynamic(cluster_wide=overrides, per_broker=broker.per_broker)
        else:
            after = broker.with_dynamic(cluster_wide=broker.cluster_wide, per_broker=overrides)
        check_thread_counts(broker, after)
        after.check_logins()
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from error
    return after


def check_tenant(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Whether a tenant may turn a broker's overrides `before` into `after`.

    What is taken away counts as well: an override that the operator made is not a tenant's to
    remove. Raises KafkaError(POLICY_VIOLATION).
    """
    for name in sorted({*before, *after}):
        value = after.get(name)
        if before.get(name) == value:
            continue
        key = BROKER_CONFIGS.get(name)
        if key is None or key.scope is not Scope.TENANT:
            raise KafkaError(
                ErrorCode.POLICY_VIOLATION, f"{name} is not for users of this cluster to change."
            )
        if value is not None:
            try:
                key.for_tenant().parse(value)
            except ConfigError as error:
                raise KafkaError(ErrorCode.POLICY_VIOLATION, str(error)) from error
