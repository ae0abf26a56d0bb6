"""The last row of gold of each series, kept in this process until a run leaves another.

A run comes each five minutes, and each page that puts all groups of a cluster in order would have
the database look through ten windows of them for it again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from controlplane.analytics.models import GoldGroupExpiry, GoldGroupLag
from controlplane.analytics.selectors import last_of_each

LAG_OF_GOLD = (
    *("group", "topic", "status", "sampled_ms", "lag_records", "uncommitted_records"),
    *("lag_seconds", "lag_seconds_at_least", "trend_records_per_s", "eta_seconds", "pk"),
)
EXPIRY_OF_GOLD = (
    *("topic", "group", "status", "ts_ms"),
    *("first_loss_in_s", "oldest_unread_expires_in_s", "pk"),
)
"""What pages that put all groups in order read of gold: all lists of the same rows."""
Series = tuple[str, str]
Row = tuple[Any, ...]
Found = Mapping[Series, Row]
"""By the first two columns."""
KEPT_MAX = 8
"""Answers of this process: a cluster has two."""
KEPT_ROWS_MAX = 50_000
"""Of one of them; a longer one is read each time."""
_Model = type[GoldGroupLag] | type[GoldGroupExpiry]
Mark = tuple[int, int, str]
"""The newest window, its last row, and that row's run."""
_KeptMark = tuple[int, int, str]
"""The instant that counts as the newest; the last row of the newest window, and its run."""


class _Kept:
    """Those that were asked for last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: OrderedDict[tuple[Any, ...], tuple[_KeptMark, Found]] = OrderedDict()

    def get(self, key: tuple[Any, ...], mark: _KeptMark) -> Found | None:
        with self._lock:
            known, rows = self._rows.get(key, (None, None))
            if known != mark:
                return None
            self._rows.move_to_end(key)
            return rows

    def put(self, key: tuple[Any, ...], mark: _KeptMark, rows: Found) -> None:
        with self._lock:
            self._rows[key] = mark, rows
            self._rows.move_to_end(key)
            while len(self._rows) > KEPT_MAX:
                self._rows.popitem(last=False)


_kept = _Kept()


def mark_of(model: _Model, cluster_id: str) -> Mark | None:
    """None: it has no rows."""
    rows = _rows(model, cluster_id).order_by("-ts_ms", "-pk")
    found: Mark | None = rows.values_list("ts_ms", "pk", "run_id").first()
    return found


def newest_lag(cluster_id: str) -> GoldGroupLag | None:
    """The last row of the newest window, whatever group it is of."""
    rows = GoldGroupLag.objects.filter(cluster_id=cluster_id)
    return rows.order_by("-ts_ms", "-pk").first()


def mark_by(newest: GoldGroupLag | None) -> Mark | None:
    """As `mark_of`, for who has `newest_lag`."""
    return None if newest is None else (newest.ts_ms, newest.pk, newest.run_id)


def last_rows(
    model: _Model,
    cluster_id: str,
    newest_ms: int | None,
    columns: tuple[str, ...],
    mark: Mark | None = None,
) -> Found:
    """`columns` of the last row of each series that is present at `newest_ms`; the first two are
    the series. None: nothing was ever computed.

    `mark` is the table's as it is now, of those who have it already.
    """
    if newest_ms is None:
        return {}
    mark = mark or mark_of(model, cluster_id)
    if mark is None:
        return {}
    known = kept_rows(model, cluster_id, newest_ms, columns, mark)
    if known is not None:
        return known
    last = last_of_each(_rows(model, cluster_id), newest_ms).values_list(*columns)
    found = {row[:2]: row for row in last}
    if len(found) <= KEPT_ROWS_MAX:
        _kept.put((model, cluster_id, columns), (newest_ms, *mark[1:]), found)
    return found


def kept_rows(
    model: _Model, cluster_id: str, newest_ms: int, columns: tuple[str, ...], mark: Mark
) -> Found | None:
    """The same where they are kept since the last run; None: they would have to be read."""
    return _kept.get((model, cluster_id, columns), (newest_ms, *mark[1:]))


def _rows(model: _Model, cluster_id: str) -> QuerySet[Any]:
    return model._default_manager.filter(cluster_id=cluster_id)  # noqa: SLF001 - Django's documented name
