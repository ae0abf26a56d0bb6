"""Every kind on real brokers, its worker killed after its first writing step: cancelled there, and
undone after it has succeeded. What is found afterwards is what was there before, or the operation
says what stays.
"""

import os
from dataclasses import dataclass, field
from typing import Any

import pytest

from controlplane.operations.operations import Phase, kind_names, required_kind
from tests.controlplane.live.holds import AFTER
from tests.controlplane.live.service import Refused

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.redis,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        "PENSTOCK_TEST_GOVERNED" not in os.environ,
        reason="make test-governance-kafka, or PENSTOCK_TEST_GOVERNED=penstock for brokers of ours",
    ),
]
ACL = {
    "operation": "READ",
    "resource_type": "TOPIC",
    "pattern_type": "PREFIXED",
    "permission": "ALLOW",
    "host": "*",
}
LEASE = {"retention_ms": 1_209_600_000, "for_s": 3600}
# `conftest.cluster` and `test_verbs`; `offset.restore` is the undo of the offsets' kinds; a cluster's
# deletion is tried by `test_tls`, other credentials of one by `clusters/test_registering`, the restart
# of a broker, which only brokers of ours have, by `test_runbooks`, of all of
# them by `test_verbs`; brokers are added and removed by `test_scaling`, their log directories by
# `test_log_dirs`, another version of them is run by `test_versions`, at another address by
# `test_replacing`, with another connect string by `test_reconnecting`; an election, for which a broker has to
# have been away, by `gateway/test_contract` and `reassignments/test_electing`.
ELSEWHERE = {
    "broker.restart",
    "cluster.add_brokers",
    "cluster.change_addresses",
    "cluster.change_zookeeper",
    "cluster.add_log_directory",
    "cluster.configure",
    "cluster.create",
    "cluster.credentials",
    "cluster.delete",
    "cluster.empty_log_directory",
    "cluster.finalize_version",
    "cluster.register",
    "cluster.remove_brokers",
    "cluster.replace_broker",
    "cluster.restart",
    "cluster.upgrade",
    "leaders.elect",
    "offset.restore",
    "reassignment",
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """`inputs` may hold {n}, the case's own name; `stays`: cancelling cannot bring it back.

    `of`: which of several cases of the kind; `second`: the user has an old and a new password;
    `leased`: the topic has a retention lease.
    """

    kind: str
    inputs: dict[str, Any]
    of: str = ""
    topic: bool = False
    user: bool = False
    second: bool = False
    acl: bool = False
    group: bool = False
    leased: bool = False
    stays: bool = False
    undo: bool = True
    also: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind}.{self.of}".rstrip(".")


CASES = (
    Case(kind="topic.create", inputs={"name": "{n}", "partitions": 2, "replication_factor": 3}),
    Case(
        kind="topic.update",
        topic=True,
        inputs={"name": "{n}", "configs": {"retention.ms": "7200000"}},
    ),
    Case(
        kind="topic.partitions",
        topic=True,
        inputs={"name": "{n}", "partitions": 4},
        stays=True,
        undo=False,
    ),
    Case(kind="topic.delete", topic=True, inputs={"name": "{n}"}, stays=True, undo=False),
    Case(
        kind="topic.empty",
        topic=True,
        group=True,
        inputs={"name": "{n}"},
        stays=True,
        undo=False,
    ),
    Case(kind="topic.retention_lease", topic=True, inputs={"name": "{n}", **LEASE}),
    Case(
        kind="topic.retention_restore",
        topic=True,
        leased=True,
        inputs={"name": "{n}"},
        stays=True,
        undo=False,
    ),
    Case(kind="user.create", inputs={"username": "{n}"}),
    Case(kind="user.rotate", user=True, inputs={"username": "{n}"}, stays=True, undo=False),
    Case(
        kind="user.rotate",
        of="overlap",
        user=True,
        inputs={"username": "{n}", "overlap_s": 3600},
    ),
    Case(
        kind="user.retire",
        user=True,
        second=True,
        inputs={"username": "{n}", "mechanism": "SCRAM-SHA-512"},
        stays=True,
        undo=False,
    ),
    Case(kind="user.delete", user=True, inputs={"username": "{n}"}, stays=True, undo=False),
    Case(
        kind="acl.create",
        inputs={"bindings": [{**ACL, "principal": "User:{n}", "resource_name": "{n}"}]},
    ),
    Case(
        kind="acl.delete",
        acl=True,
        inputs={"bindings": [{**ACL, "principal": "User:{n}", "resource_name": "{n}"}]},
    ),
    Case(kind="quota.set", inputs={"user": "{n}", "quotas": {"producer_byte_rate": 1_048_576}}),
    Case(
        kind="offset.reset",
        topic=True,
        group=True,
        inputs={"group": "{n}", "strategy": "earliest"},
    ),
    Case(kind="group.delete", topic=True, group=True, inputs={"group": "{n}"}),
)


def named(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: named(each, name) for key, each in value.items()}
    if isinstance(value, list):
        return [named(each, name) for each in value]
    return value.replace("{n}", name) if isinstance(value, str) else value


def prepare(service, clients, case, name):
    if case.topic:
        service.run("topic.create", name=name, partitions=2, replication_factor=3)
    if case.leased:
        service.run("topic.retention_lease", name=name, **LEASE)
    if case.user:
        service.run("user.create", username=name)
    if case.second:
        service.run("user.rotate", username=name, overlap_s=3600)
    if case.acl:
        service.run("acl.create", **named(case.inputs, name))
    if case.group:
        clients.produce(name, 40)
        assert len(clients.read(name, name, 40)) == 40


def found(service, name):
    """What a cluster has under this name: topic, login, rules, committed offsets."""
    base = f"/clusters/{service.cluster_id}"
    topic, group = (one(service, f"{base}/{which}/{name}") for which in ("topics", "groups"))
    users = service.get(f"{base}/users")["data"]
    acls = service.get(f"{base}/acls")["data"]
    return {
        "topic": topic
        and {
            "replicas": {row["partition"]: row["replicas"] for row in topic["partitions"]},
            "starts": {row["partition"]: row["log_start"] for row in topic["partitions"]},
            "configs": {r["name"]: r["value"] for r in topic["configs"] if not r["is_default"]},
        },
        "users": [known(row) for row in users if row["username"] == name],
        "acls": [known(row) for row in acls if row["principal"] == f"User:{name}"],
        "offsets": group and {r["partition"]: r["committed"] for r in group["offsets"]},
    }


def known(row):
    """A row of a list, without when it was read."""
    return {key: value for key, value in row.items() if key not in {"as_of", "stale_reason"}}


def one(service, path):
    try:
        return service.get(path)
    except Refused as refused:
        if refused.status != 404:
            raise
        return None


def first_write(kind):
    return next(
        spec.name
        for spec in required_kind(kind).steps
        if spec.phase == Phase.EXECUTE and spec.writes
    )


def test_every_kind_is_tried():
    assert {case.kind for case in CASES} | ELSEWHERE == set(kind_names())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cancelled_after_its_first_write(service, cluster, clients, case):
    name = f"c.{case}"
    prepare(service, clients, case, name)
    before = found(service, name)
    service.holds.place(case.kind, first_write(case.kind), AFTER)
    operation = service.confirm(service.plan(case.kind, **named(case.inputs, name)))
    held = service.holds.await_held()
    assert held["operation_id"] == operation["id"]
    cancelling = service.cancel(operation)
    service.kill_held(held)
    ended = service.finish(operation)
    if not required_kind(case.kind).cancellable:
        assert cancelling["code"] == "not-cancellable"
        assert ended["state"] == "succeeded"
        return
    assert ended["state"] == "cancelled", ended
    if case.stays:
        assert ended["remains"], ended
    else:
        assert ended["remains"] == []
        assert found(service, name) == before


@pytest.mark.parametrize("case", CASES, ids=str)
def test_undone_after_a_kill(service, cluster, clients, case):
    name = f"u.{case}"
    prepare(service, clients, case, name)
    before = found(service, name)
    plan = service.plan(case.kind, **named(case.inputs, name))
    operation = service.run_through_kills(plan, (first_write(case.kind), AFTER))
    assert operation["state"] == "succeeded", operation
    assert operation["revertible"] == case.undo
    if str(case) != "user.rotate":  # another password is not seen from outside
        assert found(service, name) != before
    if not case.undo:
        with pytest.raises(Refused) as caught:
            service.post(f"/operations/{operation['id']}/undo-plan")
        assert caught.value.status == 409
        return
    undo = service.post(f"/operations/{operation['id']}/undo-plan")
    assert service.finish(service.confirm(undo))["state"] == "succeeded"
    assert found(service, name) == before
    assert service.operation(operation)["state"] == "reverted"
