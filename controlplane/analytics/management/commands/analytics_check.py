"""`manage.py analytics_check --cluster demo`: gold beside its telemetry and the live brokers."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from controlplane.analytics.check import Line, Verdict, compare, live_records
from controlplane.analytics.claims import newest_claims
from controlplane.analytics.sampler import SampleLateError, Sampler
from controlplane.analytics.telemetry import records_since
from controlplane.analytics.times import iso_ms
from controlplane.clusters.connections import connection_spec, gateway_for
from controlplane.clusters.models import Cluster
from controlplane.gateway.errors import GatewayError
from spark_analytics.contracts.telemetry import KIND_GROUP

SAMPLE_BUDGET_S = 30.0
FAILURES = frozenset({Verdict.DIFFERENT, Verdict.NO_RECORD})


class Command(BaseCommand):
    help = (
        "Compare the newest gold rows with the telemetry record of their sample and with the live "
        "offsets and log directories. Ends with 1 when a number differs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--cluster", default="demo", help="name or id (demo)")
        parser.add_argument("--group", help="this group only")
        parser.add_argument("--topic", help="this topic only")
        parser.add_argument(
            "--quiesced",
            action="store_true",
            help="nothing writes or commits: live numbers must be equal too",
        )

    def handle(self, *_: Any, **asked: Any) -> None:
        try:
            cluster = _cluster(asked["cluster"])
            claims = newest_claims(cluster.id, group=asked["group"], topic=asked["topic"])
        except DatabaseError as error:
            raise CommandError(f"the database cannot be read: {error}") from error
        if not claims:
            raise CommandError("there are no gold rows of that yet; a run makes them")
        try:
            sample = Sampler().sample(gateway_for(cluster), budget_s=SAMPLE_BUDGET_S)
            since_ms = min(claim.sampled_ms for claim in claims)
            recorded = records_since(connection_spec(cluster), since_ms)
        except (GatewayError, SampleLateError) as error:
            raise CommandError(f"{cluster.name}: {error}") from error
        live = live_records(cluster.id, sample)
        lines = compare(claims, recorded, live, quiesced=asked["quiesced"])
        for text in _table(lines):
            self.stdout.write(text)
        wrong = sum(line.verdict in FAILURES for line in lines)
        if wrong:
            raise CommandError(f"{wrong} of {len(lines)} numbers differ")


def _cluster(name: str) -> Cluster:
    rows = Cluster.objects.filter(deleted_at=None)
    found = list((rows.filter(pk=name) or rows.filter(name=name))[:2])
    if not found:
        raise CommandError(f"there is no cluster {name!r}")
    if len(found) > 1:
        raise CommandError(f"several clusters are named {name!r}; give its id")
    return found[0]


def _table(lines: list[Line]) -> list[str]:
    rows: list[tuple[str, ...]] = [("number", "of", "sampled at", "gold", "its record", "live", "")]
    for line in lines:
        kind, topic, group = line.claim.key
        rows.append(
            (
                "lag records" if kind == KIND_GROUP else "bytes held",
                f"{group} on {topic}" if group else topic,
                iso_ms(line.claim.sampled_ms),
                *(_said(value) for value in (line.claim.value, line.recorded, line.live)),
                str(line.verdict),
            )
        )
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _said(value: int | None) -> str:
    return "unknown" if value is None else str(value)
