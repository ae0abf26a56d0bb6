"""How far silver has come with each cluster: which snapshot of bronze it holds everything of.

Kept as a property of a silver table, written after the rows: a run killed in between takes the same
rows again, and silver is the same after it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Final

from spark_analytics.io.tables import SILVER_GROUP, TABLES

if TYPE_CHECKING:
    from spark_analytics.io.lake import Lake

PROPERTY: Final = "penstock.absorbed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """Silver holds all of bronze up to `snapshot` that a run from `from_ms` on asks for.

    `ends` are the ends of the telemetry partitions by then, exclusive, in the topic `topic_id`.
    """

    snapshot: int
    from_ms: int
    ends: Mapping[str, int] = field(default_factory=dict)
    topic_id: str | None = None


def read(lake: Lake) -> dict[str, Cursor]:
    """By cluster; none when one of the tables is another than that of which they tell."""
    text = lake.loaded(SILVER_GROUP).properties().get(PROPERTY)
    told = json.loads(text) if text else {}
    if told.get("tables") != _tables(lake):
        return {}
    return {cluster_id: Cursor(**row) for cluster_id, row in told["clusters"].items()}


def write(lake: Lake, cursors: Mapping[str, Cursor]) -> None:
    """All of them, at once."""
    rows = {cluster_id: asdict(cursor) for cluster_id, cursor in sorted(cursors.items())}
    text = json.dumps({"tables": _tables(lake), "clusters": rows}, separators=(",", ":"))
    lake.loaded(SILVER_GROUP).updateProperties().set(PROPERTY, text).commit()


def forget(lake: Lake, cluster_id: str) -> None:
    """The next run takes the cluster's bronze again, as far back as it looks."""
    cursors = read(lake)
    if cursors.pop(cluster_id, None) is not None:
        write(lake, cursors)


def _tables(lake: Lake) -> list[str]:
    return [str(lake.loaded(table).uuid()) for table in TABLES]
