"""How groups do, as somebody else judges it.

The app that judges is above this one and brings its own (`use_source`).
"""

from collections.abc import Collection, Mapping
from typing import Protocol

from controlplane.groups.diagnosis import Standing

Series = tuple[str, str]
"""A group and a topic."""
Facts = Mapping[str, list[float | None]]
"""By name a list by partition number; null is unknown."""


class Judgements(Protocol):
    def of(self, cluster_id: str, groups: Collection[str]) -> Mapping[str, list[Standing]]:
        """The newest verdicts on these groups, by group, one a topic, without `by_partition`; a
        group without any is not there.
        """
        ...

    def partitions_of(self, cluster_id: str, groups: Collection[str]) -> Mapping[Series, Facts]:
        """What is kept of each partition, by group and topic, where it is kept."""
        ...


class _Nobody:
    def of(self, cluster_id: str, groups: Collection[str]) -> Mapping[str, list[Standing]]:
        del cluster_id, groups
        return {}

    def partitions_of(self, cluster_id: str, groups: Collection[str]) -> Mapping[Series, Facts]:
        del cluster_id, groups
        return {}


_source: Judgements = _Nobody()


def use_source(source: Judgements) -> None:
    global _source  # noqa: PLW0603 - one source per process
    _source = source


def judgements() -> Judgements:
    return _source
