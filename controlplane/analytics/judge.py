"""The collector's own judgement of a cluster: fed with each sample, caught up when another process
took some, stored beside gold.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from django.db import transaction

from controlplane.analytics.models import CollectorState, GroupVerdict
from controlplane.analytics.slices import Sample, number
from controlplane.analytics.telemetry import records_since
from controlplane.analytics.verdicts.by_partition import kept_facts
from controlplane.analytics.verdicts.evaluator import Evaluator
from controlplane.analytics.verdicts.groups import Verdict
from controlplane.analytics.verdicts.intake import is_sound
from controlplane.analytics.verdicts.loss import Removal, loss_interval_ms
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import rank

CATCH_UP_S = 4.0
"""How long telemetry of samples that others took is waited for; without it trends begin later."""
REASON_MAX = 200
"""Characters of why it could not be read."""
ROWS_AT_ONCE = 500
PARTITIONS_KEPT_MAX = 20_000
"""Partitions of groups, of one cluster, whose own facts are stored: of the groups that do worst.
They are some 90 bytes a partition, and written anew with each sample.
"""
INSTANTS = frozenset({"sampled_ms", "judged_at", "loss_from_ms", "loss_until_ms"})
"""Columns of a verdict that are others with each sample, whatever it says of the group."""
REVISION_BYTES = 16
_NOT_STORED = {"ingest_bytes_per_s", "reasons", "by_partition"}
_STORED = [one.name for one in fields(Verdict) if one.name not in _NOT_STORED]


@dataclass(slots=True)
class Judge:
    """Of one cluster, in one process."""

    cluster_id: str
    evaluator: Evaluator = field(default_factory=Evaluator)
    began: datetime | None = None
    """When the last sample began that was seen here."""
    _missed: str = ""
    _short_until_ms: int = 0

    def see(
        self,
        spec: ConnectionSpec,
        rows: Sequence[Mapping[str, Any]],
        *,
        began: datetime,
        before: datetime | None,
    ) -> list[Verdict]:
        """Verdicts on a sample, `rows`, that began then; the one `before` it, whoever took it.

        What others began counts, not what they ended: a collector that is killed may have published
        its sample.
        """
        if rows and before is not None and self.began != before:
            self._missed = self._catch_up(spec, rows)
            self._short_until_ms = rows[0]["ts_ms"] + Rules().trend_s * 1000
        self.began = began
        self.evaluator.feed(rows)
        return self.evaluator.verdicts()

    def shortfall(self, ts_ms: int) -> str:
        """Why trends know less than they look back at, as of a sample; empty when they do not."""
        if not self._missed or ts_ms >= self._short_until_ms:
            return ""
        return f"Earlier samples could not be read, so trends begin later: {self._missed}"

    def _catch_up(self, spec: ConnectionSpec, rows: Sequence[Mapping[str, Any]]) -> str:
        """Only of what is there now: the topic may hold what others wrote. Why it failed, if so."""
        rules, ts_ms = Rules(), rows[0]["ts_ms"]
        wanted = {_key(row) for row in rows}
        oldest_ms = ts_ms - (rules.trend_s + rules.window_s) * 1000
        last_ms = self.evaluator.last_ts_ms
        since_ms = oldest_ms if last_ms is None else max(oldest_ms, last_ms + 1)
        try:
            found = records_since(spec, since_ms, timeout_s=CATCH_UP_S)
        except GatewayError as error:
            return str(error)[:REASON_MAX]
        sound = (record for record in found.values() if is_sound(record, self.cluster_id))
        missed = sorted(
            (record for record in sound if record["ts_ms"] < ts_ms and _key(record) in wanted),
            key=lambda record: record["ts_ms"],
        )
        for _, sample in itertools.groupby(missed, key=lambda record: record["ts_ms"]):
            self.evaluator.feed(sample)
        return ""


def store(cluster_id: str, sample: Sample, verdicts: Sequence[Verdict], now: datetime) -> None:
    """Replace what stands there of the cluster, in one transaction."""
    told = _told(verdicts)
    rows = [
        _row(cluster_id, sample, verdict, now, kept_facts(verdict) if at in told else None)
        for at, verdict in enumerate(verdicts)
    ]
    names = [one.name for one in GroupVerdict._meta.concrete_fields if not one.primary_key]
    key = ["cluster_id", "group", "topic"]
    with transaction.atomic():
        for start in range(0, len(rows), ROWS_AT_ONCE):
            GroupVerdict.objects.bulk_create(
                rows[start : start + ROWS_AT_ONCE],
                update_conflicts=True,
                unique_fields=key,
                update_fields=[name for name in names if name not in key],
            )
        GroupVerdict.objects.filter(cluster_id=cluster_id).exclude(judged_at=now).delete()
        # Last, for whoever renews the collector's lease waits for this row.
        CollectorState.objects.filter(pk=cluster_id).update(**_revised(rows, sample))


def _revised(rows: Sequence[GroupVerdict], sample: Sample) -> dict[str, Any]:
    """What the collector's state says of them: the same revision while they say the same."""
    if any(row.sampled_ms != sample.ts_ms for row in rows):
        return {"verdicts_revision": "", "verdicts_sampled_ms": None}
    fields = GroupVerdict._meta.concrete_fields
    said = [one.name for one in fields if not one.primary_key and one.name not in INSTANTS]
    digest = hashlib.blake2b(digest_size=REVISION_BYTES)
    for row in rows:
        digest.update(repr([getattr(row, name) for name in said]).encode())
    return {"verdicts_revision": digest.hexdigest(), "verdicts_sampled_ms": sample.ts_ms}


def _key(record: Mapping[str, Any]) -> tuple[str, str, str]:
    return record["kind"], record["topic"], record.get("group") or ""


def _told(verdicts: Sequence[Verdict]) -> set[int]:
    """Indexes of those whose partitions are stored, the worst first while there is room."""

    def harm(at: int) -> tuple[int, int, int]:
        verdict = verdicts[at]
        return -rank(verdict.risk), -rank(verdict.status), -(verdict.lag_records or 0)

    found, left = set(), PARTITIONS_KEPT_MAX
    for at in sorted(range(len(verdicts)), key=harm):
        if verdicts[at].partitions <= left:
            found.add(at)
            left -= verdicts[at].partitions
    return found


def _row(
    cluster_id: str,
    sample: Sample,
    verdict: Verdict,
    now: datetime,
    by_partition: dict[str, list[float | None]] | None,
) -> GroupVerdict:
    configs = sample.configs.get(verdict.topic, ())
    removal = Removal(
        segment_ms=number(configs, "segment.ms"),
        segment_bytes=number(configs, "segment.bytes"),
        check_interval_ms=sample.retention_check_ms,
    )
    from_ms, until_ms = loss_interval_ms(verdict, removal)
    shown = {name: getattr(verdict, name) for name in _STORED}
    return GroupVerdict(
        cluster_id=cluster_id,
        judged_at=now,
        reasons=",".join(verdict.reasons),
        loss_from_ms=from_ms,
        loss_until_ms=until_ms,
        by_partition=by_partition,
        **shown,
    )
