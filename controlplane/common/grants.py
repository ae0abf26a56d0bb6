"""Who may do what where: roles over patterns of clusters, topics and groups. Pure.

Nothing is allowed without a grant, and no grant takes anything away. Names are compared code point
by code point: nothing is folded, normalised or expanded, so that `*` in a name is a letter like any
other. A prefix ends with a separator, so that a grant on `team-a-` is never one on `team-ab`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from controlplane.common.hashing import content_hash

OWNER, OPERATOR, VIEWER, LIMITED = "owner", "operator", "viewer", "limited"
MESSAGE_READER, MESSAGE_WRITER = "message-reader", "message-writer"
GRANT_ROLES = (OPERATOR, VIEWER, MESSAGE_READER, MESSAGE_WRITER)
"""What a grant over a pattern may give; an owner owns the whole tenant."""
GRANTS_MAX = 50
"""Of one member or key."""
NAME_MAX = 255
SEPARATORS = (".", "-", "_", "/", ":")


class Verb(StrEnum):
    READ = "read"
    WRITE = "write"
    ADMINISTER = "administer"
    BROWSE = "browse"
    """See what the records of a topic hold: that a topic is there says nothing of that."""
    PRODUCE = "produce"


ROLES: Mapping[str, frozenset[Verb]] = {
    OWNER: frozenset(Verb),
    OPERATOR: frozenset({Verb.READ, Verb.WRITE, Verb.BROWSE, Verb.PRODUCE}),
    VIEWER: frozenset({Verb.READ}),
    MESSAGE_READER: frozenset({Verb.READ, Verb.BROWSE}),
    MESSAGE_WRITER: frozenset({Verb.READ, Verb.PRODUCE}),
}


class Area(StrEnum):
    """What is read or changed."""

    SELF = "self"
    """Who one is; anybody with a credential may see that, and change what is their own."""
    TENANT = "tenant"
    """What is all of the tenant's: members, keys, hosts, analytics runs."""
    OUTLINE = "outline"
    """That a cluster is there, its brokers and how to connect."""
    CLUSTER = "cluster"
    """All of a cluster: its life, its placement, its totals."""
    ACCESS = "access"
    """The users and ACLs of a cluster."""
    TOPIC = "topic"
    GROUP = "group"
    OPERATION = "operation"
    """Plans, operations and the record of them: each needs what its kind does."""


class Over(StrEnum):
    """What of the clusters that it names a grant is over."""

    CLUSTER = "cluster"
    TOPIC = "topic"
    GROUP = "group"


class Match(StrEnum):
    ANY = "any"
    LITERAL = "literal"
    PREFIX = "prefix"


@dataclass(frozen=True, slots=True)
class Pattern:
    match: Match = Match.ANY
    name: str = ""

    def covers(self, name: str) -> bool:
        if self.match is Match.ANY:
            return True
        # Nothing has an empty name: what is not known is not covered.
        if not name or not self.name:
            return False
        return name == self.name if self.match is Match.LITERAL else name.startswith(self.name)

    def spans(self, other: "Pattern") -> bool:
        """Whether every name that `other` covers is one of this pattern's."""
        if self.match is Match.ANY:
            return True
        if other.match is Match.ANY:
            return False
        if self.match is Match.LITERAL:
            return self == other
        return self.covers(other.name)

    def fault(self) -> str:
        """Why there can be no such pattern; empty when there can."""
        if self.match is Match.ANY:
            return "A pattern for any name has no name." if self.name else ""
        if not 0 < len(self.name) <= NAME_MAX:
            return f"A name has 1 to {NAME_MAX} characters; for every name say match any."
        if self.match is Match.PREFIX and not self.name.endswith(SEPARATORS):
            ends = " ".join(SEPARATORS)
            return f"A prefix ends with one of {ends} so that team-a does not cover team-ab."
        return ""


ANY = Pattern()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A role over clusters by name, or over topics or groups of such clusters."""

    role: str
    clusters: Pattern = ANY
    over: Over = Over.CLUSTER
    names: Pattern = ANY

    @property
    def verbs(self) -> frozenset[Verb]:
        return ROLES.get(self.role, frozenset())

    def allows(self, verb: Verb, area: Area, cluster: str, name: str) -> bool:
        if verb not in self.verbs:
            return False
        if area is Area.TENANT:
            return self.over is Over.CLUSTER and self.clusters.match is Match.ANY
        if not self.clusters.covers(cluster):
            return False
        if self.over is Over.CLUSTER:
            return True
        if area is Area.OUTLINE:
            return verb is Verb.READ
        return area.value == self.over.value and self.names.covers(name)

    def pattern(self, verb: Verb, area: Area, cluster: str) -> Pattern | None:
        """Which names of `area`, topics or groups, on the cluster it allows; None: none."""
        if verb not in self.verbs or not self.clusters.covers(cluster):
            return None
        if self.over is Over.CLUSTER:
            return ANY
        return self.names if area.value == self.over.value else None

    def may_touch(self, verb: Verb, area: Area) -> bool:
        """Whether there can be anything of `area` that it allows."""
        if verb not in self.verbs or area is Area.TENANT:
            return self.allows(verb, area, "", "")
        if area is Area.OPERATION or self.over is Over.CLUSTER:
            return True
        return area.value == self.over.value or (area is Area.OUTLINE and verb is Verb.READ)

    def spans(self, other: "Grant") -> bool:
        """Whether everything that `other` allows is allowed by this one."""
        same = self.over is Over.CLUSTER or (
            self.over is other.over and self.names.spans(other.names)
        )
        return other.verbs <= self.verbs and self.clusters.spans(other.clusters) and same

    def fault(self) -> tuple[str, str]:
        """(field, why) of what cannot be so; ("", "") when it can."""
        if self.over is Over.CLUSTER and self.names != ANY:
            return "names", "A grant over clusters covers all that is on them."
        for field in ("clusters", "names"):
            why = getattr(self, field).fault()
            if why:
                return field, why
        return "", ""

    def as_row(self) -> dict[str, Any]:
        return {
            "role": self.role,
            "clusters": {"match": self.clusters.match.value, "name": self.clusters.name},
            "over": self.over.value,
            "names": {"match": self.names.match.value, "name": self.names.name},
        }


@dataclass(frozen=True, slots=True)
class Scope:
    """What somebody may: each layer allows it by one of its grants; no layer at all allows nothing.

    A member has one layer. A key has its own and that of who made it, so that it can never do more
    than either.
    """

    layers: tuple[tuple[Grant, ...], ...]

    def allows(self, verb: Verb, area: Area, cluster: str = "", name: str = "") -> bool:
        if area is Area.SELF:
            return verb is not Verb.ADMINISTER
        return bool(self.layers) and all(
            any(grant.allows(verb, area, cluster, name) for grant in layer) for layer in self.layers
        )

    def may_touch(self, verb: Verb, area: Area) -> bool:
        """Whether it is worth looking: False is a refusal, True is not yet a permission."""
        if area is Area.SELF:
            return self.allows(verb, area)
        return bool(self.layers) and all(
            any(grant.may_touch(verb, area) for grant in layer) for layer in self.layers
        )

    def sees(self, area: Area, cluster: str, name: str = "") -> bool:
        return self.allows(Verb.READ, area, cluster, name)

    def patterns(self, verb: Verb, area: Area, cluster: str) -> tuple[tuple[Pattern, ...], ...]:
        """By layer; a topic or group of the cluster is allowed that one of every layer covers.

        There is always a layer: nothing allowed is a layer of none.
        """
        found = tuple(
            tuple(
                pattern
                for grant in layer
                if (pattern := grant.pattern(verb, area, cluster)) is not None
            )
            for layer in self.layers
        )
        return found or ((),)

    @property
    def sees_all(self) -> bool:
        return self.allows(Verb.READ, Area.TENANT)

    def spans(self, grants: Iterable[Grant]) -> bool:
        """Whether all of `grants` lie within this scope, each in one grant of every layer."""
        return bool(self.layers) and all(
            any(own.spans(grant) for own in layer) for grant in grants for layer in self.layers
        )

    def within(self, other: "Scope") -> "Scope":
        if not (self.layers and other.layers):
            return NOTHING
        return Scope((*self.layers, *other.layers))

    @property
    def mark(self) -> str:
        """The same for equal scopes, another for others: the key of what is kept per scope."""
        layers = sorted(
            content_hash(sorted((grant.as_row() for grant in layer), key=content_hash))
            for layer in self.layers
        )
        return content_hash(layers)[:16]


def whole(role: str) -> Grant:
    """The role on everything of the tenant, now and later."""
    return Grant(role=role)


EVERYTHING = Scope(((whole(OWNER),),))
"""The service's own: what no person or key asked for."""
NOTHING = Scope(((),))


def scope_of(role: str, rows: Any) -> Scope:
    """The scope of a member or key: its role over everything, beside its stored grants.

    What cannot be read as a grant grants nothing.
    """
    own = (whole(role),) if role in ROLES else ()
    stored = rows if isinstance(rows, list) else []
    return Scope(((*own, *(grant for row in stored if (grant := grant_of(row)) is not None)),))


def grant_of(row: Any) -> Grant | None:
    """The grant of a stored row; None when the row is not exactly one."""
    try:
        grant = Grant(
            role=row["role"],
            clusters=_pattern(row["clusters"]),
            over=Over(row["over"]),
            names=_pattern(row["names"]),
        )
    except (KeyError, TypeError, ValueError):
        return None
    is_one = grant.role in GRANT_ROLES and grant.fault() == ("", "") and grant.as_row() == row
    return grant if is_one else None


def _pattern(row: Mapping[str, Any]) -> Pattern:
    if not isinstance(row["name"], str):
        raise TypeError(row["name"])
    return Pattern(Match(row["match"]), row["name"])
