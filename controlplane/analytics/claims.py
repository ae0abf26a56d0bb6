"""The newest numbers of gold, as claims that `check` puts beside their sources."""

from __future__ import annotations

from typing import TypeVar

from controlplane.analytics.check import Claim
from controlplane.analytics.models import GoldGroupLag, GoldTopicRetention
from controlplane.analytics.selectors import PRESENT_WITHIN_S
from controlplane.topics.rules import is_internal
from spark_analytics.contracts.telemetry import KIND_GROUP, KIND_TOPIC

Row = TypeVar("Row", GoldGroupLag, GoldTopicRetention)


def newest_claims(
    cluster_id: str, *, group: str | None = None, topic: str | None = None
) -> list[Claim]:
    """Lag of every group and bytes of every topic, each from its newest row that is present.

    With `group`, the topics are those that it reads. Internal topics, which move with every
    sample, are left out unless named.
    """
    lags = [
        Claim(
            key=(KIND_GROUP, row.topic, row.group),
            sampled_ms=row.sampled_ms,
            value=row.lag_records,
        )
        for row in _newest(GoldGroupLag, cluster_id)
        if group in (None, row.group)
    ]
    read = {claim.key[1] for claim in lags}
    held = [
        Claim(key=(KIND_TOPIC, row.topic, ""), sampled_ms=row.sampled_ms, value=row.bytes)
        for row in _newest(GoldTopicRetention, cluster_id)
        if group is None or row.topic in read
    ]
    return [claim for claim in [*lags, *held] if _wanted(claim.key[1], topic)]


def _wanted(name: str, topic: str | None) -> bool:
    return name == topic if topic is not None else not is_internal(name)


def _newest(model: type[Row], cluster_id: str) -> list[Row]:
    rows = model._default_manager.filter(cluster_id=cluster_id)  # noqa: SLF001 - Django's documented name
    last = rows.order_by("-ts_ms").first()
    if last is None:
        return []
    found: dict[tuple[str, str], Row] = {}
    for row in rows.filter(ts_ms__gt=last.ts_ms - PRESENT_WITHIN_S * 1000).order_by("ts_ms"):
        found[row.topic, getattr(row, "group", "")] = row
    return [found[key] for key in sorted(found)]
