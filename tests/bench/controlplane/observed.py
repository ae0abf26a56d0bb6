"""Observed state at size: passes, list and detail pages over HTTP, SQL of an operation's ticks.

The brokers are a fake in memory; PostgreSQL and the web server are real. Each figure is printed
beside what is demanded.
"""

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.controlplane.large_cluster import (
    GROUPS,
    PARTITIONS,
    TOPICS,
    LargeCluster,
    group_name,
    topic_name,
)
from tests.bench.controlplane.throwaway_postgres import postgres

REPOSITORY = Path(__file__).resolve().parents[3]
LIST_P95_MS, DETAIL_P95_MS, PASS_S, TICK_STATEMENTS = 150.0, 100.0, 20.0, 8
REQUESTS = 60
START_S = 60.0


class Figures:
    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, what: str, value: float, limit: float, unit: str) -> None:
        self.rows.append({"what": what, "value": value, "limit": limit, "unit": unit})
        verdict = "ok" if value <= limit else "MISSED"
        print(f"{what:<58} {value:>9,.1f} {unit:<10} <= {limit:>6g}  {verdict}", flush=True)


def timed_s(action: Callable[[], object]) -> float:
    began_s = time.monotonic()
    action()
    return time.monotonic() - began_s


def passes(cluster_id: str, gateway: LargeCluster, figures: Figures) -> None:
    from controlplane.observed.services import observe

    def one() -> None:
        if not observe(cluster_id):
            raise SystemExit("the pass did not count")

    figures.add("full observation, tables empty", timed_s(one), PASS_S, "s")
    gateway.write_everywhere()
    figures.add("full observation, every log has grown", timed_s(one), PASS_S, "s")
    figures.add("full observation, nothing has changed", timed_s(one), PASS_S, "s")


def ticks(tenant: Any, cluster_id: str, figures: Figures) -> None:
    """The most statements of any tick, by kind."""
    from django.db import connection

    from controlplane.audit.services import Actor
    from controlplane.operations import engine
    from controlplane.operations.plans import plan_create
    from controlplane.operations.services import operation_start
    from controlplane.operations.states import ACTIVE_STATES, SUCCEEDED

    actor = Actor(name="user:bench")
    for kind, inputs in OPERATIONS:
        plan = plan_create(
            tenant=tenant, actor=actor, kind_name=kind, cluster_id=cluster_id, inputs=inputs
        )
        operation = operation_start(
            tenant=tenant,
            actor=actor,
            plan_id=plan.id,
            plan_hash=plan.plan_hash,
            confirm=plan.confirm_phrase or "",
        )
        most = 0
        while operation.state in ACTIVE_STATES:
            counted = _Counter()
            with connection.execute_wrapper(counted):
                engine.tick(operation.id)
            most = max(most, counted.statements)
            operation.refresh_from_db()
        if operation.state != SUCCEEDED:
            raise SystemExit(f"{kind} ended {operation.state}: {operation.error}")
        figures.add(f"most SQL statements of a tick, {kind}", most, TICK_STATEMENTS, "statements")


OPERATIONS: list[tuple[str, dict[str, Any]]] = [
    ("topic.create", {"name": "bench.made", "partitions": 3}),
    ("topic.update", {"name": "bench.made", "configs": {"retention.ms": "1000000000"}}),
    ("topic.delete", {"name": "bench.made"}),
    ("user.create", {"username": "bench"}),
]


class _Counter:
    statements = 0

    def __call__(self, execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        self.statements += 1
        return execute(sql, params, many, context)


@contextmanager
def web(
    environment: dict[str, str], application: str = "controlplane.asgi:application"
) -> Iterator[http.client.HTTPConnection]:
    """The web process as `deploy` starts it, and a connection to it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", application]
    command += ["--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"]
    server = subprocess.Popen(command, cwd=REPOSITORY, env=environment)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        deadline_s = time.monotonic() + START_S
        while True:
            try:
                connection.connect()
                break
            except OSError:
                if time.monotonic() > deadline_s:
                    raise
                time.sleep(0.2)
        yield connection
    finally:
        connection.close()
        server.terminate()
        server.wait(20)


def pages(
    connection: http.client.HTTPConnection,
    cluster_id: str,
    headers: dict[str, str],
    figures: Figures,
) -> None:
    base = f"/api/v1/clusters/{cluster_id}"
    lists = {
        "list: topics, 50": f"{base}/topics",
        "list: topics, 500": f"{base}/topics?page_size=500",
        "list: topics that match, 50": f"{base}/topics?q=stream-07",
        "list: groups, 50": f"{base}/groups",
        "list: groups, 500": f"{base}/groups?page_size=500",
        "list: users, 50": f"{base}/users",
        "list: ACLs, 500": f"{base}/acls?page_size=500",
        "list: clusters": "/api/v1/clusters",
    }
    details = {
        "detail: topic": f"{base}/topics/{topic_name(TOPICS // 2)}",
        "detail: group": f"{base}/groups/{group_name(GROUPS // 2)}",
        "detail: cluster": base,
    }
    for what, path in lists.items():
        figures.add(f"{what}, p95", p95_ms(connection, path, headers), LIST_P95_MS, "ms")
    figures.add(
        "list: last page of the topics, p95",
        p95_ms(connection, last_page(connection, f"{base}/topics", headers), headers),
        LIST_P95_MS,
        "ms",
    )
    for what, path in details.items():
        figures.add(f"{what}, p95", p95_ms(connection, path, headers), DETAIL_P95_MS, "ms")


def last_page(connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> str:
    at = f"{path}?page_size=500"
    while True:
        following = ask(connection, at, headers)["page"]["next"]
        if following is None:
            return at
        at = f"{path}?page_size=500&cursor={following}"


def ask(connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> Any:
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise SystemExit(f"{path} answered {answer.status}: {body[:300]!r}")
    return json.loads(body)


def p95_ms(connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> float:
    ask(connection, path, headers)
    took = sorted(timed_s(lambda: ask(connection, path, headers)) for _ in range(REQUESTS))
    return took[int(REQUESTS * 0.95)] * 1_000


def measure(url: str, figures: Figures) -> None:
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as directory:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "DATABASE_URL": url,
            "PENSTOCK_DATA_DIR": directory,
            "PENSTOCK_RATE_ADDRESS": "",
            "PENSTOCK_RATE_USER": "",
            "PENSTOCK_RATE_KEY": "",
            # The pages are measured long after the passes and are not to look for the brokers.
            "PENSTOCK_OBSERVE_INTERVAL_S": "3600",
        }
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        from controlplane.audit.services import Actor
        from controlplane.clusters.connections import use_gateways
        from controlplane.clusters.models import REGISTERED, RUNNING, Cluster
        from controlplane.operations import outbox
        from controlplane.tenants.models import Tenant
        from controlplane.tenants.services import api_key_create

        gateway = LargeCluster()
        use_gateways(lambda _cluster: gateway)
        outbox.use_publisher(lambda *_: None)
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
        passes(cluster.id, gateway, figures)
        with web(dict(os.environ)) as connection:
            headers = {"Authorization": f"Bearer {key}"}
            pages(connection, cluster.id, headers, figures)
        ticks(tenant, cluster.id, figures)
        from django.db import connections

        connections.close_all()


def report() -> list[dict[str, Any]]:
    """Measure, print, answer what was found."""
    print(
        f"\nObserved state: {TOPICS:,} topics, {TOPICS * PARTITIONS:,} partitions, {GROUPS:,} groups"
        " on PostgreSQL"
    )
    figures = Figures()
    with postgres() as url:
        measure(url, figures)
    return figures.rows
