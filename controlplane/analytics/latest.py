"""The newest of some groups on each of their topics, by Spark or the collector: whole rows.

A page says several things of the same groups; it reads them once. Where this process keeps the last
rows of gold in short (`last_gold`), only those are read whole that no newer verdict replaces.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Any

from controlplane.analytics.last_gold import (
    EXPIRY_OF_GOLD,
    LAG_OF_GOLD,
    Found,
    Series,
    kept_rows,
    mark_by,
    mark_of,
)
from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag, GroupVerdict
from controlplane.analytics.newest import group_verdicts, is_replaced, newest_expiries, newest_lags
from controlplane.analytics.selectors import newest_of_each

NAMES_A_STATEMENT = 500
_Model = type[GoldGroupLag] | type[GoldGroupExpiry]
_Said = Mapping[Series, tuple[str, int]]
"""A word of the collector, and its sample."""


class Latest:
    """Of some groups, each of its parts read when it is first asked for, in a number of statements
    that grows by 500 groups; `newest` is of `newest_lag`.
    """

    def __init__(
        self, cluster_id: str, groups: Collection[str], newest: GoldGroupLag | None
    ) -> None:
        self.newest = newest
        self._cluster_id = cluster_id
        self._names = sorted(groups)

    @cached_property
    def lags(self) -> list[GoldGroupLag | GroupVerdict]:
        """One a group and topic, by group and topic."""
        said = {(one.group, one.topic): (one.status, one.sampled_ms) for one in self._live}
        return newest_lags(self._gold(GoldGroupLag, LAG_OF_GOLD, said), self._live)

    @cached_property
    def expiries(self) -> list[GoldGroupExpiry | GroupVerdict]:
        """One a topic and group of which it is known, by topic and group."""
        said = {(one.topic, one.group): (one.risk, one.sampled_ms) for one in self._live}
        return newest_expiries(self._gold(GoldGroupExpiry, EXPIRY_OF_GOLD, said), self._live)

    @cached_property
    def _live(self) -> list[GroupVerdict]:
        rows = group_verdicts([self._cluster_id])
        return [one for names in self._some() for one in rows.filter(group__in=names)]

    def _gold(self, model: _Model, columns: tuple[str, ...], said: _Said) -> list[Any]:
        """The last row of each series, but perhaps not of those that `said` replaces."""
        if self.newest is None:
            return []
        newest_ms = self.newest.ts_ms
        rows = model._default_manager.filter(cluster_id=self._cluster_id)  # noqa: SLF001 - Django's documented name
        kept = self._kept(model, newest_ms, columns)
        if kept is not None:
            wanted = self._not_replaced(kept, columns.index("group"), said)
            found = [*rows.in_bulk(wanted).values()]
            # Fewer: a run has put others in their place since.
            if len(found) == len(wanted):
                return found
        key = ("group", "topic")
        some = (newest_of_each(rows.filter(group__in=n), newest_ms, key) for n in self._some())
        return [row for found in some for row in found]

    def _kept(self, model: _Model, newest_ms: int, columns: tuple[str, ...]) -> Found | None:
        is_its_own = model is GoldGroupLag
        mark = mark_by(self.newest) if is_its_own else mark_of(model, self._cluster_id)
        return {} if mark is None else kept_rows(model, self._cluster_id, newest_ms, columns, mark)

    def _not_replaced(self, kept: Found, group_at: int, said: _Said) -> list[int]:
        names = frozenset(self._names)
        of_groups = [row for series, row in kept.items() if series[group_at] in names]
        return [
            row[-1]
            for row in of_groups
            if (word := said.get(row[:2])) is None or not is_replaced(*word, row[3])
        ]

    def _some(self) -> Iterator[list[str]]:
        for start in range(0, len(self._names), NAMES_A_STATEMENT):
            yield self._names[start : start + NAMES_A_STATEMENT]
