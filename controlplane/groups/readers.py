"""Which groups read a topic, and how far behind each is on it, by what was observed."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q

from controlplane.observed.columns import RowHolds
from controlplane.observed.readers import Reader
from controlplane.observed.sections import GROUPS
from controlplane.observed.selectors import Section, detailed_rows, rows_to_cut, shown

READERS_MAX = 500
"""Groups of a topic whose offsets are looked at; `complete` says whether those are all."""


def topic_readers(reader: Reader, at: Section, topic: str) -> dict[str, Any]:
    """Groups that have committed in the topic or are assigned a part of it, the most behind first.

    A lag of null is not known; partitions without a commit are counted, they are in no lag.
    """
    # A group that has members and has committed nowhere yet may be assigned anything.
    may_read = Q(RowHolds("topics", topic)) | Q(members__gt=0, row__topics=[])
    rows = rows_to_cut(reader, GROUPS).filter(may_read).values_list("key", flat=True)
    names = list(rows[: READERS_MAX + 1])
    found = []
    for row in detailed_rows(reader, GROUPS, names[:READERS_MAX]):
        offsets = _offsets_on(row.detail, topic)
        if offsets:
            listed = shown(row, at)
            found.append(
                {
                    "group": row.key,
                    "state": listed["state"],
                    "members": listed["members"],
                    **_lag_of(offsets),
                    "as_of": listed["as_of"],
                    "stale_reason": listed["stale_reason"],
                }
            )
    found.sort(key=lambda row: (-(row["lag"] if row["lag"] is not None else -1), row["group"]))
    return {"groups": found, "complete": len(names) <= READERS_MAX}


def _offsets_on(detail: Mapping[str, Any], topic: str) -> list[dict[str, Any]]:
    return [
        {
            "committed": committed,
            "lag": None if committed is None or end is None else max(end - committed, 0),
        }
        for name, _, committed, _, end, *_ in detail["offsets"]
        if name == topic
    ]


def _lag_of(offsets: list[dict[str, Any]]) -> dict[str, Any]:
    committed = [each for each in offsets if each["committed"] is not None]
    lags = [each["lag"] for each in committed]
    return {
        "lag": None if not committed or None in lags else sum(lags),
        "committed": len(committed),
        "uncommitted": len(offsets) - len(committed),
    }
