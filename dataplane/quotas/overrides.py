"""The keys that are quotas, and what a change makes of an entity's overrides.

A user's node holds SCRAM credentials as well: nothing but the keys here is read or written.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.quotas.entities import ABSENT, Entity

PRODUCER_BYTE_RATE: Final = "producer_byte_rate"
CONSUMER_BYTE_RATE: Final = "consumer_byte_rate"
REQUEST_PERCENTAGE: Final = "request_percentage"
CONTROLLER_MUTATION_RATE: Final = "controller_mutation_rate"
CONNECTION_CREATION_RATE: Final = "connection_creation_rate"


class Kind(enum.Enum):
    """What a value may be: its text in ZooKeeper has a decimal point for DOUBLE alone."""

    INT = 2**31 - 1
    LONG = 2**63 - 1
    DOUBLE = 0


_OF_CLIENTS: Final[Mapping[str, Kind]] = {
    PRODUCER_BYTE_RATE: Kind.LONG,
    CONSUMER_BYTE_RATE: Kind.LONG,
    REQUEST_PERCENTAGE: Kind.DOUBLE,
    CONTROLLER_MUTATION_RATE: Kind.DOUBLE,
}
_OF_ADDRESSES: Final[Mapping[str, Kind]] = {CONNECTION_CREATION_RATE: Kind.INT}

_WHOLE_WITHIN: Final = 1e-6
"""How far from a whole number a value may lie that stands for one, as in Kafka."""


class Change(NamedTuple):
    """One key's new value, in the unit of the key; None removes it."""

    key: str
    value: float | None


def keys_of(entity: Entity) -> Mapping[str, Kind]:
    return _OF_CLIENTS if entity.ip is ABSENT else _OF_ADDRESSES


def quotas_in(entity: Entity, overrides: Mapping[str, str]) -> dict[str, float]:
    """The quotas among an entity's overrides. A value that is no number > 0 is left out:
    another tool may have written it, and no bound can be made of it.
    """
    found = {}
    for key in keys_of(entity):
        text = overrides.get(key)
        if text is None:
            continue
        try:
            value = float(text)
        except ValueError:
            continue
        if math.isfinite(value) and value > 0:
            found[key] = value
    return found


def altered(
    entity: Entity, overrides: Mapping[str, str], changes: Iterable[Change]
) -> dict[str, str]:
    """The overrides after the changes. Raises KafkaError(INVALID_REQUEST)."""
    kinds = keys_of(entity)
    result = dict(overrides)
    seen: set[str] = set()
    for change in changes:
        kind = kinds.get(change.key)
        if kind is None:
            # Not even to remove it: a user's password lies among the keys.
            raise _invalid(f"Invalid configuration key {change.key}")
        if change.key in seen:
            raise _invalid(f"Duplicate quota key {change.key}")
        seen.add(change.key)
        if change.value is None:
            result.pop(change.key, None)
        else:
            result[change.key] = _text(change.key, kind, change.value)
    return result


def _text(key: str, kind: Kind, value: float) -> str:
    if not value > 0:  # NaN is not, either
        raise _invalid(f"Quota {key} must be greater than 0")
    if kind is Kind.DOUBLE:
        if math.isinf(value):
            raise _invalid(f"Quota {key} must be a number")
        return repr(float(value))
    # 2^63 as a float stands for 2^63 - 1, which no float is.
    if value > kind.value and value != float(kind.value):
        raise _invalid(f"Proposed value for {key} is too large for a {kind.name}")
    whole = min(round(value), kind.value)
    if whole < 1 or (value < 2**53 and abs(whole - value) > _WHOLE_WITHIN):
        raise _invalid(f"Configuration {key} must be a {kind.name} value")
    return str(whole)


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
