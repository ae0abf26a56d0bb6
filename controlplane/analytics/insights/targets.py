"""Which lag objective a group on a topic has: the narrowest that covers it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SECONDS_DEFAULT, SHARE_DEFAULT = 60.0, 0.99
"""Where nothing is set."""
SECONDS_MAX = 10 * 366 * 86_400
SHARE_MIN, SHARE_MAX = 0.5, 0.99999

Pair = tuple[str, str]
"""Group and topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`share` of the time at most `seconds`; without an `objective_id` nobody has set it."""

    seconds: float = SECONDS_DEFAULT
    share: float = SHARE_DEFAULT
    objective_id: str | None = None
    cluster_id: str | None = None
    is_prefix: bool = False
    group: str = ""
    topic: str = ""

    def covers(self, cluster_id: str, group: str, topic: str) -> bool:
        if self.cluster_id not in {None, cluster_id} or self.topic not in {"", topic}:
            return False
        if not self.group:
            return True
        return group.startswith(self.group) if self.is_prefix else group == self.group

    @property
    def narrowness(self) -> tuple[bool, int, bool, bool, str]:
        """A name before a beginning, a longer one before a shorter, then topic, then cluster;
        of two alike the one that was set last.
        """
        is_named = bool(self.group) and not self.is_prefix
        length = len(self.group)
        return is_named, length, bool(self.topic), bool(self.cluster_id), self.objective_id or ""


DEFAULT = Target()


def by_target(
    pairs: Iterable[Pair], cluster_id: str, targets: Iterable[Target]
) -> Mapping[Target, list[Pair]]:
    """Each pair under its narrowest target, or under `DEFAULT`."""
    ordered = sorted(targets, key=lambda target: target.narrowness, reverse=True)
    found: dict[Target, list[Pair]] = {}
    for group, topic in pairs:
        mine = (each for each in ordered if each.covers(cluster_id, group, topic))
        found.setdefault(next(mine, DEFAULT), []).append((group, topic))
    return found
