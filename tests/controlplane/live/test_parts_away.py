"""ZooKeeper, and the controller's broker, is taken away while operations of many kinds are held before
or after a step of theirs, and is back after longer than every lease and session.

One outage is one for all of them. What they came to is asked of the brokers (`truth`). Of Redis and
the database the same is in `test_redis_away` and `test_database_away`.
"""

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from confluent_kafka import KafkaException

from tests.controlplane.live.clients import Clients
from tests.controlplane.live.conftest import GOVERNED, OPEN, QUICK
from tests.controlplane.live.holds import AFTER, BEFORE
from tests.controlplane.live.service import LiveService, Refused
from tests.controlplane.live.truth import Truth
from tests.local_cluster import eventually
from tests.processes import hold_still

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.redis,
    pytest.mark.timeout(300),
    pytest.mark.skipif(GOVERNED != "penstock", reason="the brokers and ZooKeeper are ours here"),
]
LONG_S = 21.0
"""Longer than the brokers' sessions, 18 s, the agent's and the workers' own, and every lease, 3 s."""
SHORT_S = 7.0
"""Longer than every lease. A ZooKeeper that is down counts no session's time: more shows nothing."""
BACK_S = 60.0
"""Until every operation has ended after the part is back, on a machine that is busy otherwise."""
SETTLED_S = 60.0
LIFTED_S = 30.0
"""Of a broker that was away when a limit was lifted: by beat's second sweep, 15 s apart."""
RECORDS = 30
"""In each partition of what plans are made of."""
ANSWERED_S = 45.0
"""How long a plan may take to be made or refused."""
ACL = {"pattern_type": "LITERAL", "permission": "ALLOW", "host": "*"}
ALL = [
    {**ACL, "principal": "User:everything", "operation": "ALL", "resource_type": kind} | name
    for kind, name in (
        ("TOPIC", {"resource_name": "*"}),
        ("GROUP", {"resource_name": "*"}),
        ("CLUSTER", {"resource_name": "kafka-cluster"}),
    )
]


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    made = LiveService(tmp_path_factory.mktemp("parts-away"))
    made.environment |= {  # each operation that is held has a thread
        "PENSTOCK_WORKER_CONCURRENCY": "16",
        "PENSTOCK_TASKS_PER_TENANT": "16",
        "PENSTOCK_TASKS_PER_CLUSTER": "16",
    }
    try:
        made.start()
        body = {**OPEN, "name": "live", "broker_count": 3, "config": QUICK, "confirm": True}
        added = made.finish(made.post("/clusters", body)["operation"])
        assert added["state"] == "succeeded", added
        made.cluster_id = added["cluster_id"]
        yield made
    finally:
        for name in ("zookeeper", "agent"):
            with suppress(KeyError, ProcessLookupError):
                made.processes[name].send_signal(signal.SIGCONT)
        made.stop()


@pytest.fixture(scope="module")
def secret(service):
    operation = service.run("user.create", username="everything", acls=ALL)
    assert operation["state"] == "succeeded", operation
    return service.post(f"/operations/{operation['id']}/secret")


@pytest.fixture(scope="module")
def bootstrap(service):
    return service.get(f"/clusters/{service.cluster_id}")["bootstrap_servers"]


@pytest.fixture(scope="module")
def clients(bootstrap, secret):
    return Clients(bootstrap, secret)


@pytest.fixture(scope="module")
def truth(clients, bootstrap, secret):
    """With topics of which plans are made while something is away: one replica for each partition."""
    made = Truth(bootstrap, secret)
    for _ in eventually(10, "its rules have reached the brokers"):
        with suppress(KafkaException):
            made.make_topic("planned", assignment=[[1], [2], [3]])
            break
    for partition in range(3):
        clients.produce("planned", RECORDS, partition=partition)
    return made


# -- what is held -------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class Case:
    """`inputs` hold {n}, the case's own name. `replicas`: of the topic that there is before.

    `done` says of `Seen` before and after whether it was done, whole and once.
    """

    kind: str
    step: str
    when: str
    inputs: dict[str, Any]
    done: Callable[[dict[str, Any], dict[str, Any]], bool]
    replicas: list[list[int]] = field(default_factory=list)
    group: bool = False

    def __str__(self) -> str:
        return f"{self.kind}.{self.step}.{self.when}"


PAIR = [[1, 2], [2, 3]]
MOVED = [[1, 3], [2, 1]]
MAKE = {"name": "{n}", "partitions": 3, "replication_factor": 3}
RULE = {
    **ACL,
    "principal": "User:{n}",
    "operation": "READ",
    "resource_type": "TOPIC",
    "resource_name": "{n}",
}


def is_made(_, now):
    return [len(set(row)) for row in now["replicas"] or ()] == [3, 3, 3]


CASES = (
    Case(kind="topic.create", step="create", when=BEFORE, inputs=MAKE, done=is_made),
    Case(kind="topic.create", step="create", when=AFTER, inputs=MAKE, done=is_made),
    Case(
        kind="topic.update",
        step="alter",
        when=BEFORE,
        replicas=PAIR,
        inputs={"name": "{n}", "configs": {"retention.ms": "7200000"}},
        done=lambda was, now: now == {**was, "settings": {"retention.ms": "7200000"}},
    ),
    Case(
        kind="topic.partitions",
        step="add",
        when=AFTER,
        replicas=PAIR,
        inputs={"name": "{n}", "partitions": 4},
        done=lambda was, now: now["replicas"][:2] == was["replicas"] and len(now["replicas"]) == 4,
    ),
    Case(
        kind="topic.delete",
        step="delete",
        when=BEFORE,
        replicas=PAIR,
        inputs={"name": "{n}"},
        done=lambda _, now: now["replicas"] is None,
    ),
    Case(
        kind="reassignment",
        step="throttle",
        when=AFTER,
        replicas=PAIR,
        inputs={
            "moves": [
                {"topic": "{n}", "partition": number, "replicas": row}
                for number, row in enumerate(MOVED)
            ],
            "batch_size": 1,
            "throttle_bytes_per_s": 1_000_000,
        },
        done=lambda was, now: now == {**was, "replicas": MOVED},
    ),
    Case(
        kind="user.create",
        step="credential",
        when=AFTER,
        inputs={"username": "{n}", "acls": [RULE]},
        done=lambda _, now: (
            (now["mechanisms"], [row[1] for row in now["rules"]]) == (["SCRAM_SHA_512"], ["READ"])
        ),
    ),
    Case(
        kind="acl.create",
        step="create",
        when=BEFORE,
        inputs={"bindings": [RULE]},
        done=lambda was, now: [row[1] for row in now["rules"]] == ["READ"] and not was["rules"],
    ),
    Case(
        kind="offset.reset",
        step="commit",
        when=BEFORE,
        replicas=PAIR,
        group=True,
        inputs={"group": "{n}", "strategy": "earliest"},
        done=lambda was, now: was["committed"] == [20, 20] and now["committed"] == [0, 0],
    ),
)


def named(value, name):
    return json.loads(json.dumps(value).replace("{n}", name))


def seen(truth, case, name):
    """What the brokers have under this name."""
    replicas = truth.replicas(name)
    return {
        "replicas": replicas,
        "settings": truth.settings(name) if replicas else {},
        "mechanisms": truth.mechanisms(name),
        "rules": truth.rules(f"User:{name}"),
        "committed": truth.committed(name, name, 2) if case.group else [],
    }


@dataclass(kw_only=True)
class Held:
    case: Case
    name: str
    operation: Any
    was: dict[str, Any]
    topic_id: str | None = None


def hold(service, truth, clients, case, name):
    """Its operation, at the case's point."""
    if case.replicas:
        truth.make_topic(name, assignment=case.replicas)
    if case.group:
        for partition in range(len(case.replicas)):
            clients.produce(name, 20, partition=partition)
        assert len(clients.read(name, name, 40)) == 40
    was = seen(truth, case, name)
    service.holds.place(case.kind, case.step, case.when)
    operation = service.confirm(service.plan(case.kind, **named(case.inputs, name)))
    assert service.holds.await_held()["operation_id"] == operation["id"]
    is_there = case.kind == "topic.create" and case.when == AFTER
    topic_id = truth.topic_id(name) if is_there else None
    return Held(case=case, name=name, operation=operation, was=was, topic_id=topic_id)


# -- what is taken ------------------------------------------------------------------------------
class Parts:
    """What can be taken away; `pids` are of the brokers by id."""

    def __init__(self, service, controller):
        self.service = service
        brokers = service.get(f"/clusters/{service.cluster_id}")["brokers"]
        self.pids = {row["id"]: row["pid"] for row in brokers}
        self.controller = controller

    def take(self, outage):
        """What gives it back."""
        process = self.service.processes["zookeeper"]
        pid = process.pid if outage.part == ZOOKEEPER else self.pids[self.controller]
        if outage.how == HANGS:
            hold_still(pid)
            return lambda: os.kill(pid, signal.SIGCONT)
        if outage.part == ZOOKEEPER:
            self.service.kill("zookeeper")
            return self.service.start_zookeeper
        os.kill(pid, signal.SIGKILL)
        return lambda: None  # its agent starts it again


@dataclass(frozen=True, kw_only=True)
class Outage:
    part: str
    how: str
    length_s: float

    def __str__(self) -> str:
        return f"{self.part}-{self.how}"


ZOOKEEPER, BROKER = "zookeeper", "broker"
HANGS, KILLED = "hangs", "killed"
OUTAGES = (
    Outage(part=ZOOKEEPER, how=HANGS, length_s=LONG_S),
    Outage(part=ZOOKEEPER, how=KILLED, length_s=SHORT_S),
    Outage(part=BROKER, how=KILLED, length_s=0.0),
    Outage(part=BROKER, how=HANGS, length_s=LONG_S),
)


@pytest.mark.parametrize("outage", OUTAGES, ids=str)
def test_operations_end_right(service, truth, clients, capsys, outage):
    began_s = time.monotonic()
    held = [
        hold(service, truth, clients, case, f"{outage}-{number}")
        for number, case in enumerate(CASES)
    ]
    parts = Parts(service, truth.controller())
    silent = parts.controller if outage.part == BROKER else None
    said = {}
    give_back = parts.take(outage)
    taken_s = time.monotonic()
    try:
        for one in held:
            service.holds.let_go(one.operation["id"])
        if outage.how == HANGS:
            said = assert_plans_are_honest(service, silent)
        time.sleep(max(0.0, taken_s + outage.length_s - time.monotonic()))
    finally:
        give_back()
    back_s = time.monotonic()
    for one in held:
        left_s = max(1.0, back_s + BACK_S - time.monotonic())
        one.operation = service.finish(one.operation, timeout_s=left_s)
    took_s = time.monotonic() - back_s
    settle(service, truth)
    for one in held:
        assert_as_it_says(service, truth, one)
    failed = {str(one.case): one.operation["error"] for one in held if one.operation["error"]}
    with capsys.disabled():
        print(
            f"\n{outage}: {len(held) - len(failed)} of {len(held)} operations succeeded, all ended"
            f" after {took_s:.1f} s; the test took {time.monotonic() - began_s:.1f} s. {failed}{said}"
        )
    is_restarted = outage.part == BROKER and outage.how == KILLED
    restarted = {id_ for id_, pid in Parts(service, 0).pids.items() if pid != parts.pids[id_]}
    assert restarted == ({parts.controller} if is_restarted else set()), "the agent left the others"


def settle(service, truth):
    """All brokers are back and follow, so that what they say is current."""
    for _ in eventually(SETTLED_S, "every replica follows"):
        with suppress(KafkaException):
            if truth.brokers() == {1, 2, 3} and truth.not_in_sync() == []:
                break
    base = f"/clusters/{service.cluster_id}"
    for _ in eventually(SETTLED_S, "the agent and the service know of all brokers"):
        if [row["alive"] for row in service.get(base)["brokers"]] == [True] * 3:
            break


def assert_as_it_says(service, truth, one):
    """Succeeded: done, once. Failed: as before, or it says what stays; and it says why."""
    case, operation = one.case, one.operation
    at = f"{case}: {operation}"
    for _ in eventually(15, at):
        now = seen(truth, case, one.name)
        if operation["state"] == "succeeded":
            is_so = case.done(one.was, now)
        else:
            is_so = now == one.was or bool(operation["remains"])
        if is_so:
            break
    assert operation["state"] in {"succeeded", "failed"}, at
    if operation["state"] == "failed":
        assert operation["error"]["code"] not in {"internal", ""}, at
        assert operation["error"]["detail"], at
    elif one.topic_id:
        assert truth.topic_id(one.name) == one.topic_id, "it was made a second time"
    if operation["has_secret"]:
        secret = service.post(f"/operations/{operation['id']}/secret")
        assert truth.admin_as(secret).list_topics(timeout=10).brokers, "the password logs in"
    if case.kind == "reassignment":
        for _ in eventually(LIFTED_S, "the limit is lifted"):
            if not any(truth.broker_settings(broker) for broker in (1, 2, 3)):
                break
        assert truth.settings(one.name) == {}
        moving = service.get(f"/clusters/{service.cluster_id}/reassignments")["data"]
        assert one.name not in {row["topic"] for row in moving}


def assert_plans_are_honest(service, silent):
    """Plans of what cannot be asked now are refused, or say what of it is unknown.

    `silent` is the broker that is away, if one is. By kind: why it was refused, or what it says.
    """
    asked = {"topic.delete": {"name": "planned"}, "user.delete": {"username": "everything"}}
    said = {}
    for kind, inputs in asked.items():
        began_s = time.monotonic()
        plan, refused = planned(service, kind, inputs)
        assert time.monotonic() - began_s < ANSWERED_S
        if refused:
            assert refused.status in {503, 504}, refused
            assert refused.problem["retryable"] is True, refused
            said[kind] = refused.problem["code"]
        elif kind == "topic.delete":
            said[kind] = assert_records(plan, silent)
        else:
            before = plan["diff"]["before"]
            assert len(before["acls"]) == len(ALL), before
            assert before["mechanisms"] == ["SCRAM-SHA-512"], before
            said[kind] = plan["impact"]["summary"]
    return said


def planned(service, kind, inputs):
    """The plan, or why there is none."""
    try:
        return service.plan(kind, **inputs), None
    except Refused as refused:
        return None, refused


def assert_records(plan, silent):
    rows = {row["name"]: row for row in plan["impact"]["blast_radius"]}
    for row in rows.values():
        assert (row["value"] is None) == bool(row["unknown"]), row
    row = rows["records"]
    if silent is None:
        assert row["value"] in {None, 3 * RECORDS}, row
    else:
        # A broker beside it may have been too busy to answer in time: that is said as well.
        away = {broker for gap in row["unknown"] for broker in gap["brokers"]}
        assert silent in away, row
        assert row["value"] is None, row
        assert row["at_least"] == (3 - len(away)) * RECORDS, row
        # One warning for each reason: of the ACLs' too, if they could not be read.
        unknown = [
            found["text"] for found in plan["impact"]["warnings"] if found["code"] == "unknown"
        ]
        assert any("records" in text for text in unknown), unknown
    return plan["impact"]["summary"]
