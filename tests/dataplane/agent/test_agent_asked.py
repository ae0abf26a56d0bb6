"""The control plane asks a real agent about a broker of its own, over a real ZooKeeper."""

from __future__ import annotations

import asyncio
import json
import signal
import time

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from controlplane.clusters import zookeeper_tree as tree
from controlplane.clusters.hosts import ZooKeeperHosts
from controlplane.clusters.questions import (
    AWAY,
    DENIALS,
    LOG_TAIL,
    SEGMENTS,
    SILENT,
    Answered,
    HostQuestion,
    Unanswered,
    silent,
)
from dataplane.runtime.embedded_zookeeper import free_port
from tests.dataplane.agent.a_host import CHROOT, CONTROL_PLANE, KEY, desired, until
from tests.processes import hold_still

pytestmark = pytest.mark.cluster

OPEN_BUT_FOR_ACLS = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
PATIENCE_S = 60


def asked_of_segments_and_denials(ask, port):
    """A topic's files, and a write that an ACL denies, as the broker and its client see them."""
    client = {"bootstrap.servers": f"127.0.0.1:{port}"}
    writer, kafka = Producer({**client, "message.timeout.ms": 30_000}), AdminClient(client)
    deadline_s = time.monotonic() + PATIENCE_S
    while kafka.list_topics(timeout=PATIENCE_S).controller_id != 7:
        assert time.monotonic() < deadline_s, "there is no controller"
    kafka.create_topics([NewTopic("orders", 1, 1)])["orders"].result(PATIENCE_S)
    assert failure_of(writer) is None
    found = ask(kind=SEGMENTS, topic="orders", partition=0, segments=10)
    assert isinstance(found, Answered), found
    [directory] = found.body["directories"]
    [segment] = directory["segments"]
    assert (directory["directory"], directory["role"]) == ("data", "current")
    assert (segment["base_offset"], directory["total"], directory["next"]) == (0, 1, None)
    assert segment["size_bytes"] == directory["total_bytes"] > 0
    nowhere = ask(kind=SEGMENTS, topic="other", partition=0, segments=10)
    assert nowhere.is_refusal, nowhere

    quiet = ask(kind=DENIALS, attempts=10)
    assert isinstance(quiet, Answered), quiet
    assert quiet.body["attempts"] == []
    denial = AclBinding(
        ResourceType.TOPIC,
        "orders",
        ResourcePatternType.LITERAL,
        "User:ANONYMOUS",
        "*",
        AclOperation.WRITE,
        AclPermissionType.DENY,
    )
    kafka.create_acls([denial])[denial].result(PATIENCE_S)
    deadline_s = time.monotonic() + PATIENCE_S
    while failure_of(writer) != "TOPIC_AUTHORIZATION_FAILED":
        assert time.monotonic() < deadline_s, "the ACL denies nothing"
    while not (attempts := ask(kind=DENIALS, attempts=10).body["attempts"]):
        assert time.monotonic() < deadline_s, "the attempt is not in the audit log"
    [attempt] = [each for each in attempts if each["operation"] == "WRITE"]
    assert (attempt["event"], attempt["principal"]) == ("denied", "User:ANONYMOUS")
    assert (attempt["resource"], attempt["host"]) == ("TOPIC:LITERAL:orders", "127.0.0.1")
    assert attempt["count"] >= 1
    assert attempt["first_ms"] <= attempt["last_ms"]


def failure_of(writer):
    """The name of what refuses a record; None when it was written."""
    reported = []
    writer.produce("orders", b"record", callback=lambda error, _: reported.append(error))
    assert writer.flush(PATIENCE_S) == 0
    return reported[0].name() if reported[0] else None


async def test_the_control_plane_asks_an_agent_about_a_broker_of_its_own(
    zookeeper, admin, start_agent, tmp_path
):
    """With ACLs, by the real client of each side; nothing is left of a question."""
    hosts = ZooKeeperHosts(zookeeper.connect_string, CONTROL_PLANE)

    def ask(key=KEY, kind=LOG_TAIL, host="h1", **args):
        args = {"lines": 100, **args} if kind == LOG_TAIL else args
        [answer] = hosts.ask([HostQuestion((host, key), kind, args)])
        return answer

    try:
        away = await asyncio.to_thread(ask)
        # Who admitted it was the last to write of it.
        assert isinstance(away, Unanswered)
        assert away == silent(AWAY, away.heard_at_ms)
        agent = start_agent()
        path = f"/penstock/hosts/h1/desired/{KEY}"
        acl = tree.acl_of(admin, "/penstock/hosts/h1/desired")
        port = free_port()
        wanted = desired(zookeeper, start_agent.key, "running", 1, port, config=OPEN_BUT_FOR_ACLS)
        admin.create(path, wanted, acl=acl)
        await until(lambda: admin.exists(f"{CHROOT}/brokers/ids/7"), start_agent.log)
        await asyncio.to_thread(asked_of_segments_and_denials, ask, port)
        found = await asyncio.to_thread(ask)
        assert isinstance(found, Answered), found
        log = (tmp_path / "brokers-h1" / KEY / "broker.log").read_text()
        shown = [row["text"] for row in found.body["lines"]]
        assert shown
        assert all(text in log for text in shown)
        assert isinstance(await asyncio.to_thread(ask, level="ERROR"), Answered)
        refused = await asyncio.to_thread(ask, key="kc_other-1")
        assert refused.is_refusal
        assert "no such broker" in refused.why
        unknown = await asyncio.to_thread(ask, kind="shell")
        assert unknown.why.startswith(
            "Unknown: the agent of this broker's host does not answer this"
        )
        for name in ("asked", "answered"):
            assert admin.get_children(f"/penstock/hosts/h1/{name}") == []

        # It is there and says nothing: as an agent that hangs, or of a version before this.
        hold_still(agent.pid)
        try:
            hung = await asyncio.to_thread(ask)
        finally:
            agent.send_signal(signal.SIGCONT)
        assert hung == silent(SILENT, hung.heard_at_ms)
        assert hung.heard_at_ms > (away.heard_at_ms or 0)
        assert admin.get_children("/penstock/hosts/h1/asked") == []
        assert isinstance(await asyncio.to_thread(ask), Answered)
        row = json.loads(admin.get("/penstock/hosts/h1")[0])
        del row["answers"]
        admin.set("/penstock/hosts/h1", json.dumps(row).encode())
        old = await asyncio.to_thread(ask)
        assert "of an earlier version (0.1.0)" in old.why
    finally:
        hosts.close()
