"""Quotas: what operations have left of each key of an entity, against what brokers keep. Pure.

An operation says something of the keys that it names alone; what somebody else has set beside them
has no desired value.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from controlplane.access.decisions.quotas import QUOTA_KEYS, Whom, whom
from controlplane.drift.differences import QUOTA, Difference, way
from controlplane.gateway.types import QUOTA_CLIENT_ID, QUOTA_USER, QuotaEntity
from controlplane.observed.drift_sentences import difference_said

KIND: Final = "quota.set"


@dataclass(frozen=True, slots=True, kw_only=True)
class Set:
    """A verified `quota.set`."""

    id: str
    at: datetime
    inputs: Mapping[str, Any]
    after: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    value: float | None
    operation_id: str
    at: datetime


Key = tuple[QuotaEntity, str]


def desired_quotas(operations: Iterable[Set]) -> dict[Key, Wanted]:
    """By entity and quota, of operations oldest first."""
    found = {}
    for each in operations:
        entity = whom(each.inputs).parts
        for key in QUOTA_KEYS:
            if key in each.inputs["quotas"]:
                found[entity, key] = Wanted(
                    value=each.after.get(key), operation_id=each.id, at=each.at
                )
    return found


def quotas_drift(
    wanted: Mapping[Key, Wanted], seen: Mapping[QuotaEntity, Mapping[str, float]]
) -> list[Difference]:
    """`seen`: every entity that has a quota."""
    found = []
    for (entity, key), each in wanted.items():
        now = seen.get(entity, {}).get(key)
        if now != each.value:
            found.append(_difference(entity, key, each, now))
    return sorted(found, key=lambda each: (each.name, each.field))


def _difference(entity: QuotaEntity, key: str, wanted: Wanted, now: float | None) -> Difference:
    names = dict(entity)
    of = {
        field: names[kind]
        for kind, field in ((QUOTA_USER, "user"), (QUOTA_CLIENT_ID, "client_id"))
        if kind in names
    }
    who = Whom(entity).words
    left, is_now = _text(wanted.value), _text(now)
    return Difference(
        area=QUOTA,
        name=who,
        field=key,
        desired=left,
        observed=is_now,
        operation_id=wanted.operation_id,
        **difference_said(
            _SENTENCES[frozenset(of)], key=key, observed=is_now, desired=left, **_whom(of)
        ),
        back=way(KIND, **of, quotas={key: _number(wanted.value)}),
        adopt=way(KIND, **of, quotas={key: _number(now)}, adopt=True),
    )


_SENTENCES: Final = {
    frozenset({"user"}): "quota/user",
    frozenset({"client_id"}): "quota/client",
    frozenset({"user", "client_id"}): "quota/client-of-user",
}
"""By the parts of an entity, what is said of one."""


def _whom(of: Mapping[str, str | None]) -> dict[str, str | None]:
    """Null: all that have no own."""
    names = {"user": "user", "client_id": "client"}
    return {names[field]: name for field, name in of.items()}


def _number(value: float | None) -> float | int | None:
    return int(value) if value is not None and value.is_integer() else value


def _text(value: float | None) -> str | None:
    return None if value is None else str(_number(float(value)))
