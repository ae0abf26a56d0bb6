"""PostgreSQL is taken away at every step of kinds with several, and comes back after every lease.

Web, two workers, beat, Redis and PostgreSQL are real; the cluster is a fake that notes each write.
All operations stand at a point of their own while the database goes, so that one outage is one at
every point: stopped in good order, by SIGKILL, or frozen, with its connections alive.
"""

import json
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from controlplane.operations.operations import Phase, required_kind
from tests.controlplane.live.faked_service import FakedService
from tests.controlplane.live.holds import AFTER, BEFORE, DURING
from tests.postgres_server import PostgresServer

pytestmark = [pytest.mark.postgres, pytest.mark.redis, pytest.mark.timeout(300)]
LEASE_S = 2.0
AWAY_S = 2 * LEASE_S
BACK_S = 20.0
"""Until all have ended, on a machine that is busy with other things."""
ANSWER_S = 15.0
"""Of REST meanwhile: `connect_timeout` of settings, twice on a page that asks twice."""
QUEUED_MAX = 100
"""Tasks that wait at the end; of a queue that grows there are thousands."""
LINES_MAX = 10
"""Of a process about its database, in an outage of less than a minute; none of them a traceback."""
REPEATABLE = {"upsert_user", "create_acls"}
"""Writes that leave the same when a step runs again; a topic is made once."""
CSRF = "c" * 32
STOPPED, KILLED, HANGS = "stopped", "killed", "hangs"
PARTS = ("web", "beat", "worker-1", "worker-2")
ACL = {
    "principal": "User:{n}",
    "operation": "READ",
    "resource_type": "TOPIC",
    "resource_name": "{n}",
    "pattern_type": "LITERAL",
    "permission": "ALLOW",
    "host": "*",
}
INPUTS = {
    "user.create": {"username": "{n}", "acls": [ACL]},
    "topic.create": {"name": "{n}", "partitions": 2, "replication_factor": 3},
}


def points():
    """(kind, step, when) of every step on the way forward; DURING is behind a write."""
    for kind in INPUTS:
        for spec in required_kind(kind).steps:
            if spec.phase in {Phase.EXECUTE, Phase.VERIFY}:
                is_write = spec.phase == Phase.EXECUTE and spec.writes
                for when in (BEFORE, *([DURING] if is_write else []), AFTER):
                    yield kind, spec.name, when


@pytest.fixture(scope="module")
def database():
    made = PostgresServer()
    try:
        made.start()
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="module")
def service(tmp_path_factory, database):
    many = str(len(list(points())))
    made = FakedService(
        tmp_path_factory.mktemp("database-away"),
        database_url=database.url,
        PENSTOCK_OPERATION_LEASE_S=str(LEASE_S),
        # Each of them holds a thread.
        PENSTOCK_WORKER_CONCURRENCY=many,
        PENSTOCK_TASKS_PER_TENANT=many,
        PENSTOCK_TASKS_PER_CLUSTER=many,
    )
    try:
        made.start()
        yield made
    finally:
        made.stop()


TAKE = {
    STOPPED: PostgresServer.stop,
    KILLED: PostgresServer.kill,
    HANGS: PostgresServer.pause,
}
GIVE_BACK = {
    STOPPED: PostgresServer.start,
    KILLED: PostgresServer.start,
    HANGS: PostgresServer.resume,
}


def named(value, name):
    return json.loads(json.dumps(value).replace("{n}", name))


def boottime_s():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def answer(service, method, path, body=None):
    """(status, headers, body) of a request, which must not take longer than ANSWER_S."""
    request = urllib.request.Request(
        service.address + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {service.api_key}",
            "Content-Type": "application/json",
            "Cookie": f"penstock_session={'s' * 32}; penstock_csrf={CSRF}",
            "X-CSRFToken": CSRF,
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_S) as found:
            return found.status, found.headers, found.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def doors(service, operation):
    base = f"/api/v1/clusters/{service.cluster_id}"
    plan = {"kind": "topic.create", "cluster_id": service.cluster_id, "inputs": {"name": "x"}}
    login = {"username": service.login["username"], "password": service.login["password"]}
    return [
        ("GET", "/api/v1/me", None),
        ("GET", "/api/v1/clusters", None),
        ("GET", f"{base}/topics", None),
        ("GET", f"/api/v1/operations/{operation['id']}", None),
        ("POST", f"/api/v1/operations/{operation['id']}/cancellation", {}),
        ("POST", "/api/v1/plans", plan),
        ("POST", "/api/v1/operations", {"plan_id": "pl_1", "plan_hash": "x"}),
        ("POST", "/console/api/login", login),
        ("GET", "/console/api/session", None),
        ("GET", "/console/api/pages/overview", None),
        ("GET", f"/console/events/operations/{operation['id']}", None),
    ]


def assert_refused_as_away(service, operation):
    asked = doors(service, operation)
    with ThreadPoolExecutor(len(asked)) as pool:
        found = list(pool.map(lambda door: answer(service, *door), asked))
    for (method, path, _), (status, headers, body) in zip(asked, found, strict=True):
        assert status == 503, (method, path, body)
        assert headers["Content-Type"] == "application/problem+json"
        assert int(headers["Retry-After"]) > 0
        problem = json.loads(body)
        assert problem["code"] == "unavailable", problem
        assert problem["retryable"] is True
    assert answer(service, "GET", "/healthz")[0] == 503
    assert metric(service, 'penstock_metrics_source_up{source="database"}') == 0.0


def metric(service, name):
    request = urllib.request.Request(
        f"{service.address}/metrics", headers={"Authorization": "Bearer metrics-of-the-test"}
    )
    with urllib.request.urlopen(request, timeout=ANSWER_S) as found:
        lines = found.read().decode().splitlines()
    return next(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name} "))


def assert_nothing_twice(service, operations):
    for point, operation in operations.items():
        methods = [
            row.method for row in service.cluster.writes() if row.operation_id == operation["id"]
        ]
        once = [method for method in methods if method not in REPEATABLE]
        assert len(once) == len(set(once)), (point, methods)


def lines_of(service, name):
    return service.log_tail(name, lines=100_000).splitlines()


def assert_quiet(service, before):
    """`before`: how many lines each process had written when the outage began."""
    for name in PARTS:
        lines = lines_of(service, name)[before[name] :]
        assert not [line for line in lines if line.startswith("Traceback")], name
        about = [line for line in lines if " WARNING " in line or " ERROR " in line]
        # One of each refused request, and of each lease that was lost.
        about = [line for line in about if "django.request" not in line and "op_" not in line]
        assert len(about) <= LINES_MAX, (name, about)


@pytest.mark.parametrize("how", [STOPPED, KILLED, HANGS])
def test_away_at_every_step(service, database, capsys, how):
    operations = {}
    for number, (kind, step, when) in enumerate(points()):
        name = f"{how}-{number}"
        service.holds.place(kind, step, when)
        operation = service.confirm(service.plan(kind, **named(INPUTS[kind], name)))
        assert service.holds.await_held()["operation_id"] == operation["id"]
        operations[kind, step, when] = operation
    ids = {operation["id"] for operation in operations.values()}
    before = {name: len(lines_of(service, name)) for name in PARTS}
    TAKE[how](database)
    taken_s = boottime_s()
    try:
        time.sleep(AWAY_S)
        for operation_id in ids:
            service.holds.let_go(operation_id)
        assert_refused_as_away(service, operation)
        writes = [row for row in service.cluster.writes() if row.boottime_s > taken_s + LEASE_S]
        assert writes == [], "without a lease nothing is written"
    finally:
        GIVE_BACK[how](database)
    back_s = time.monotonic()
    service.wait_for("web", lambda: service.get("/me") is not None)
    web_s = time.monotonic() - back_s
    for point, operation in operations.items():
        assert service.finish(operation, timeout_s=BACK_S)["state"] == "succeeded", point
    took_s = time.monotonic() - back_s
    assert took_s < BACK_S
    with capsys.disabled():
        print(f"\nPostgreSQL {how}: REST after {web_s:.2f} s, all operations after {took_s:.2f} s")
    for name in PARTS:
        assert service.processes[name].poll() is None, f"{name} ended"
    assert_nothing_twice(service, operations)
    assert_quiet(service, before)
    # What was made is there, and beat, workers and the outbox do their work as before.
    topics = {row["name"] for row in service.get(f"/clusters/{service.cluster_id}/topics")["data"]}
    users = {
        row["username"] for row in service.get(f"/clusters/{service.cluster_id}/users")["data"]
    }
    for number, (kind, _, _) in enumerate(points()):
        assert f"{how}-{number}" in (topics if kind == "topic.create" else users)
    began_s = time.monotonic()
    assert service.run("topic.create", **named(INPUTS["topic.create"], how))["state"] == "succeeded"
    assert time.monotonic() - began_s < BACK_S
    assert metric(service, 'penstock_queue_messages{queue="celery"}') < QUEUED_MAX
