"""Which entities DescribeClientQuotas asks for (KIP-546)."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.quotas.entities import ABSENT, CLIENT_ID, DEFAULT, IP, USER, Entity, Name


class Match(enum.IntEnum):
    """The numbers of the request."""

    EXACT = 0
    DEFAULT = 1
    ANY = 2


class Filter(NamedTuple):
    """By type what its name has to be, None for any. Strict: an entity has no type but those."""

    components: dict[str, Name | None]
    is_strict: bool

    @classmethod
    def from_components(
        cls, components: Iterable[tuple[str, int, str | None]], *, is_strict: bool
    ) -> Filter:
        """From types, kinds of match and names. Raises KafkaError."""
        wanted: dict[str, Name | None] = {}
        for kind, match, name in components:
            if not kind:
                raise _invalid("Unexpected empty filter component entity type")
            if kind not in (USER, CLIENT_ID, IP):
                raise KafkaError(
                    ErrorCode.UNSUPPORTED_VERSION, f"Custom entity type '{kind}' not supported"
                )
            if kind in wanted:
                raise _invalid(f"Duplicate {kind} filter component entity type")
            wanted[kind] = _wanted(match, name)
        if IP in wanted and len(wanted) > 1:
            raise _invalid(
                "Invalid entity filter component combination, IP filter component should not be "
                "used with user or clientId filter component."
            )
        return cls(wanted, is_strict)

    def matches(self, entity: Entity) -> bool:
        named = ((USER, entity.user), (CLIENT_ID, entity.client_id), (IP, entity.ip))
        for kind, name in named:
            if kind in self.components:
                wanted = self.components[kind]
                if name is ABSENT or (wanted is not None and name != wanted):
                    return False
            elif self.is_strict and name is not ABSENT:
                return False
        return True


def _wanted(match: int, name: str | None) -> Name | None:
    if match == Match.EXACT:
        if name is None:
            raise _invalid("An exact match needs a name")
        return name
    if match == Match.DEFAULT:
        return DEFAULT
    if match == Match.ANY:
        return None
    raise _invalid(f"Unexpected match type: {match}")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
