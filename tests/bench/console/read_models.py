"""What the console's read models take at 10,000 topics and 5,000 groups, over HTTP on PostgreSQL.

`python -m tests.bench.console.read_models` prints the median and the 95th percentile of each page
beside what is demanded, and how long the answer "not modified" takes. The brokers are a fake in
memory; PostgreSQL and the web server are real. Every group has a verdict of the collector and rows
of gold, and 500 topics have an operation. Pages that ask brokers or hosts are not among these.
"""

import http.client
import json
import os
import sys
import tempfile
from dataclasses import asdict, dataclass
from typing import Any

from tests.bench.controlplane.large_cluster import (
    GROUPS,
    PARTITIONS,
    TOPICS,
    LargeCluster,
    group_name,
    topic_name,
)
from tests.bench.controlplane.observed import timed_s, web
from tests.bench.controlplane.throwaway_postgres import postgres

P95_MS = 150.0
REQUESTS = 40
WINDOWS, WINDOW_MS = 4, 30_000
MANAGED = 500


@dataclass(frozen=True)
class Figure:
    """Of one page; times in ms, the answer's size in bytes before compression."""

    page: str
    p50_ms: float
    p95_ms: float
    limit_ms: float
    bytes: int
    known_p95_ms: float | None

    def line(self) -> str:
        known = "–" if self.known_p95_ms is None else f"{self.known_p95_ms:.1f}"
        verdict = "ok" if self.p95_ms <= self.limit_ms else "MISSED"
        return (
            f"{self.page:<46} {self.p50_ms:>8.1f} {self.p95_ms:>8.1f} {known:>8}"
            f" {self.bytes / 1024:>8.1f}  <= {self.limit_ms:g}  {verdict}"
        )


def pages(cluster_id: str) -> dict[str, str]:
    """What is measured: the name that is printed, and the page with its question."""
    topics, groups = f"topics/{cluster_id}", f"groups/{cluster_id}"
    return {
        "topics: first page": topics,
        "topics: worst first": f"{topics}?sort=-health",
        "topics: largest first": f"{topics}?sort=-size",
        "topics: longest kept first": f"{topics}?sort=-retention",
        "topics: last page": f"{topics}?page=1000000",
        "topics: a search": f"{topics}?q=stream-07",
        "topics: only in trouble": f"{topics}?trouble=true",
        "topics: 200 a page": f"{topics}?size=200",
        "topic": f"topic/{cluster_id}/{topic_name(TOPICS // 2)}",
        "groups: worst first": groups,
        "groups: longest lag first": f"{groups}?sort=-lag",
        "groups: only in trouble": f"{groups}?trouble=true",
        "groups: a search": f"{groups}?q=reader-01",
        "group": f"group/{cluster_id}/{group_name(GROUPS // 2)}",
        "operations": "operations",
    }


class Asked:
    def __init__(self, connection: http.client.HTTPConnection, headers: dict[str, str]) -> None:
        self._connection = connection
        self._headers = headers

    def page(self, page: str, known: str = "") -> tuple[int, bytes, str]:
        """Status, body and tag."""
        headers = {**self._headers, **({"If-None-Match": known} if known else {})}
        self._connection.request("GET", f"/console/api/pages/{page}", headers=headers)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status not in {200, 304}:
            raise SystemExit(f"{page} answered {answer.status}: {body[:300]!r}")
        return answer.status, body, answer.headers.get("ETag", "")


def figure(asked: Asked, name: str, page: str) -> Figure:
    _, body, tag = asked.page(page)
    for part, shown in json.loads(body)["parts"].items():
        if shown["status"] == "unavailable" and "whole tenant" not in shown["reason"]:
            raise SystemExit(f"{page}: {part} is unavailable: {shown['reason']}")
    took = sorted(timed_s(lambda: asked.page(page)) for _ in range(REQUESTS))
    status, _, _ = asked.page(page, tag)
    known = None
    if status == 304:
        known = sorted(timed_s(lambda: asked.page(page, tag)) for _ in range(REQUESTS))
    return Figure(
        page=name,
        p50_ms=_share_ms(took, 0.5),
        p95_ms=_share_ms(took, 0.95),
        limit_ms=P95_MS,
        bytes=len(body),
        known_p95_ms=None if known is None else _share_ms(known, 0.95),
    )


def _share_ms(took: list[float], share: float) -> float:
    return took[int(len(took) * share)] * 1_000


def _judged(cluster_id: str) -> None:
    """Rows of gold and a verdict for every group, as Spark and the collector leave them."""
    from django.utils import timezone

    from controlplane.analytics.models import GoldGroupLag, GroupVerdict
    from spark_analytics.contracts.statuses import Status

    statuses = [status.value for status in Status]
    now = timezone.now()
    now_ms = int(now.timestamp() * 1_000)

    def facts(index: int) -> dict[str, Any]:
        return {
            "cluster_id": cluster_id,
            "group": group_name(index),
            "topic": topic_name(index * TOPICS // GROUPS),
            "partitions": PARTITIONS,
            "lag_records": index % 1_000,
            "lag_seconds": float(index % 600),
            "trend": "steady",
            "status": statuses[index % len(statuses)],
        }

    GoldGroupLag.objects.bulk_create(
        (
            GoldGroupLag(
                **facts(index),
                ts_ms=now_ms - window * WINDOW_MS,
                sampled_ms=now_ms - window * WINDOW_MS,
                run_id="bench",
            )
            for window in range(1, WINDOWS + 1)
            for index in range(GROUPS)
        ),
        batch_size=2_000,
    )
    GroupVerdict.objects.bulk_create(
        (
            GroupVerdict(**facts(index), sampled_ms=now_ms, judged_at=now, risk="SAFE")
            for index in range(GROUPS)
        ),
        batch_size=2_000,
    )


def _managed(tenant: Any, cluster_id: str) -> None:
    """Topics that operations were about: their drift is looked at."""
    from django.utils import timezone

    from controlplane.operations.models import Operation, Plan
    from controlplane.operations.states import SUCCEEDED

    for index in range(MANAGED):
        name = topic_name(index)
        inputs = {"name": name, "configs": {"retention.ms": "86400000"}, "delete_configs": []}
        about: dict[str, Any] = {
            "tenant": tenant,
            "kind": "topic.update",
            "cluster_id": cluster_id,
            "resource": f"topic/{name}",
        }
        now = timezone.now()
        plan = Plan.objects.create(
            **about,
            inputs=inputs,
            diff={"before": {"configs": {}}},
            impact={},
            preconditions={},
            expires_at=now,
        )
        Operation.objects.create(**about, plan=plan, state=SUCCEEDED, finished_at=now)


def measure(url: str) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as directory:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "DATABASE_URL": url,
            "PENSTOCK_DATA_DIR": directory,
            "PENSTOCK_RATE_ADDRESS": "",
            "PENSTOCK_RATE_USER": "",
            "PENSTOCK_RATE_KEY": "",
            # The pages are measured long after the pass and are not to look for the brokers.
            "PENSTOCK_OBSERVE_INTERVAL_S": "3600",
        }
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        from controlplane.audit.services import Actor
        from controlplane.clusters.connections import use_gateways
        from controlplane.clusters.models import REGISTERED, RUNNING, Cluster
        from controlplane.observed.services import observe
        from controlplane.tenants.models import Tenant
        from controlplane.tenants.services import api_key_create

        gateway = LargeCluster()
        use_gateways(lambda _cluster: gateway)
        tenant = Tenant.objects.create(slug="bench", name="Bench")
        cluster = Cluster.objects.create(
            tenant=tenant,
            name="large",
            kind=REGISTERED,
            phase=RUNNING,
            bootstrap_servers="127.0.0.1:1",
            security_protocol="PLAINTEXT",
        )
        _, key = api_key_create(
            tenant=tenant, name="bench", scope="read", actor=Actor(name="user:bench")
        )
        if not observe(cluster.id):
            raise SystemExit("the pass did not count")
        _judged(cluster.id)
        _managed(tenant, cluster.id)
        found = []
        with web(dict(os.environ)) as connection:
            asked = Asked(connection, {"Authorization": f"Bearer {key}"})
            for name, page in pages(cluster.id).items():
                found.append(figure(asked, name, page))
                print(found[-1].line(), flush=True)
        from django.db import connections

        connections.close_all()
    return found


def report() -> list[dict[str, Any]]:
    """Measure, print, answer what was found."""
    print(
        f"\nRead models of the console: {TOPICS:,} topics, {GROUPS:,} groups on PostgreSQL;"
        f" {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n"
        f"{'page':<46} {'p50 ms':>8} {'p95 ms':>8} {'304 p95':>8} {'KiB':>8}  demanded"
    )
    with postgres() as url:
        return [asdict(found) for found in measure(url)]


if __name__ == "__main__":
    sys.exit(1 if any(row["p95_ms"] > row["limit_ms"] for row in report()) else 0)
