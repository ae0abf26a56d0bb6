"""Following a runbook by REST: what checks say, that acts only plan, who sees it, how it ends."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.administration.services.keys import api_key_rotate
from controlplane.analytics.models import GroupVerdict
from controlplane.audit.models import AuditEvent
from controlplane.audit.services import SYSTEM
from controlplane.clusters.models import Broker, Cluster
from controlplane.common.grants import scope_of
from controlplane.common.transitions import IllegalTransitionError
from controlplane.gateway.errors import GatewayError, unreachable
from controlplane.gateway.types import TP
from controlplane.observed.models import ObservedCluster
from controlplane.operations.models import Operation, Plan
from controlplane.runbooks import services
from controlplane.runbooks.catalogue import catalogue
from controlplane.runbooks.models import ABANDONED, OPEN, RUN_MOVES, RunbookEntry, RunbookRun
from controlplane.runbooks.services import ENTRIES_MAX, KEPT, OPEN_FOR, runs_tidy
from controlplane.tenants.models import Membership
from controlplane.tenants.services import api_key_create, api_key_revoke
from controlplane.topics.models import RetentionLease
from controlplane.topics.retention import restore_due
from tests.controlplane.support import client_for, cluster_make, drive, observed, tenant_make

API = "/api/v1"


@pytest.fixture
def orders(world):
    world.gateway.add_topic("orders", partitions=3, records=10)
    world.gateway.add_group("readers", {TP("orders", 0): 1, TP("orders", 1): 10})
    observed(world)
    return world


@pytest.fixture
def owner(orders):
    return client_for(orders.tenant)


def begun(client, world, runbook="group-losing-data", **about):
    given = {"cluster_id": world.cluster.id, "group": "readers", "topic": "orders", **about}
    answer = client.post(f"{API}/runbooks/{runbook}/runs", given, format="json")
    assert answer.status_code == 201, answer.content
    return answer.json()


def default_body(path):
    """What has to be said at least."""
    if "/acts/" in path:
        return {"inputs": {}}
    return {"cluster_id": None} if path.endswith("/runs") else {}


def post(client, path, body=None):
    return client.post(f"{API}{path}", default_body(path) | (body or {}), format="json")


def check(client, run, name):
    number = next(
        block.number for block in catalogue()[run["runbook"]].checks if block.name == name
    )
    answer = client.post(f"{API}/runbook-runs/{run['id']}/checks/{number}")
    assert answer.status_code == 201, answer.content
    return answer.json()


# -- the catalogue


def test_the_list_and_each_runbook_of_it_are_read(owner):
    rows = owner.get(f"{API}/runbooks").json()["data"]
    assert [row["id"] for row in rows] == sorted(catalogue())
    for row in rows:
        shown = owner.get(f"{API}/runbooks/{row['id']}").json()
        assert shown["title"] == row["title"]
        assert {part["type"] for each in shown["sections"] for part in each["parts"]} <= {
            "text",
            "check",
            "act",
        }
    assert owner.get(f"{API}/runbooks/none").status_code == 404
    assert owner.get(f"{API}/runbooks/README").status_code == 404


def test_an_act_says_what_is_to_be_filled_in(owner):
    shown = owner.get(f"{API}/runbooks/group-losing-data").json()
    (act, _) = [p for s in shown["sections"] for p in s["parts"] if p["type"] == "act"]
    blanks = {row["name"]: (row["default"], row["required"]) for row in act["inputs"]}
    assert blanks["for_s"] == (259_200, False)
    assert blanks["topic"] == (None, True)


# -- checks


def test_a_runbook_is_followed_from_cause_to_end(orders, owner):
    run = begun(owner, orders)
    lag = check(owner, run, "group-lag")
    assert (lag["outcome"], lag["numbers"]["lag"]) == ("bad", 9)
    assert lag["numbers"]["worst_partition"] == "orders-0"
    assert lag["age_s"] is not None
    retention = check(owner, run, "topic-retention")
    assert (retention["outcome"], retention["numbers"]["retention.ms"]) == ("ok", "604800000")
    assert check(owner, run, "disk-usage")["outcome"] == "ok"
    planned = post(owner, f"/runbook-runs/{run['id']}/acts/1", {"inputs": {"for_s": 600}}).json()
    assert (planned["type"], planned["outcome"]) == ("act", "planned")
    assert not Operation.objects.filter(kind="topic.retention_lease").exists(), "nothing is done"
    assert orders.gateway.topics["orders"].configs == {}
    plan = Plan.objects.get(pk=planned["plan_id"])
    assert (plan.inputs["name"], plan.inputs["for_s"], plan.created_by) == (
        "orders",
        600,
        f"user:{orders.tenant.slug}-owner",
    )
    confirmed = post(owner, "/operations", {"plan_id": plan.pk, "plan_hash": plan.plan_hash})
    operation = drive(Operation.objects.get(pk=confirmed.json()["id"]))
    assert operation.state == "succeeded", operation.error
    observed(orders)
    assert "under a lease until" in check(owner, run, "topic-retention")["text"]
    assert check(owner, run, "retention-leases")["outcome"] == "ok"
    ended = post(owner, f"/runbook-runs/{run['id']}/end", {"outcome": "resolved", "note": "ok"})
    assert ended.json()["state"] == "resolved"
    shown = owner.get(f"{API}/runbook-runs/{run['id']}").json()
    assert [row["outcome"] for row in shown["entries"]][:4] == ["bad", "ok", "ok", "planned"]
    assert shown["entries"][3]["operation_id"] == operation.pk
    assert shown["entries"][0]["actor"] == shown["created_by"]
    assert shown["silence"]["href"] == "/api/v1/silences"
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"runbook.start", "runbook.end", "topic.retention_lease.plan"} <= actions


def test_a_lease_that_does_not_end_is_bad(orders, owner):
    orders.run("topic.retention_lease", name="orders", retention_ms=1_209_600_000, for_s=3600)
    past = timezone.now() - timedelta(minutes=5)
    RetentionLease.objects.update(ends_at=past, problem="it is away")
    observed(orders)
    run = begun(owner, orders, "retention-lease-overdue")
    found = check(owner, run, "retention-leases")
    assert (found["outcome"], "it is away" in found["text"]) == ("bad", True)
    run = begun(owner, orders)
    assert check(owner, run, "topic-retention")["outcome"] == "bad"
    RetentionLease.objects.update(next_try_at=past)
    assert restore_due() == 1


def test_every_check_of_every_runbook_runs_or_says_what_it_lacks(orders, owner):
    made = orders.run("topic.create", name="made")
    ran = set()
    for runbook, found in catalogue().items():
        run = begun(owner, orders, runbook, broker=1, operation_id=made.pk, user="app")
        for block in found.checks:
            answer = owner.post(f"{API}/runbook-runs/{run['id']}/checks/{block.number}")
            assert answer.status_code == 201, (block.name, answer.content)
            entry = answer.json()
            assert entry["outcome"] in {"ok", "bad", "unknown"}
            assert len(entry["text"]) > 5
            ran.add(block.name)
        post(owner, f"/runbook-runs/{run['id']}/end", {"outcome": "resolved"})
    assert len(ran) > 20


def test_what_cannot_be_read_is_unknown_and_never_ok(orders, owner):
    run = begun(owner, orders, "cluster-away")
    orders.gateway.offline = True
    found = check(owner, run, "cluster-answers")
    assert found["outcome"] == "unknown"
    assert found["as_of"] is None
    orders.gateway.offline = False
    assert check(owner, run, "cluster-answers")["outcome"] == "ok"
    run = begun(owner, orders, group="nobody")
    assert check(owner, run, "group-lag")["outcome"] == "unknown"
    orders.gateway.fail_next("log_dir_space", unreachable("away"))
    assert check(owner, run, "disk-usage")["outcome"] == "unknown"


def test_what_the_collector_alone_has_judged_is_told(orders, owner):
    """The alert fires by it, before any run has seen the topic."""
    run = begun(owner, orders)
    assert check(owner, run, "group-expiry")["outcome"] == "unknown"
    now = timezone.now()
    row = {"cluster_id": orders.cluster.id, "group": "readers", "judged_at": now, "partitions": 3}
    row |= {"sampled_ms": int(now.timestamp() * 1000), "trend": "growing", "status": "STOPPED"}
    GroupVerdict.objects.create(**row, topic="orders", risk="AT_RISK", first_loss_in_s=90.0)
    GroupVerdict.objects.create(**row, topic="others", risk="LOSING", lost_records=7)
    found = check(owner, run, "group-expiry")
    assert (found["outcome"], found["numbers"]["first_loss_in_s"]) == ("bad", 90.0)
    assert found["text"] == "The first unread record expires in 1 minute 30 seconds."
    assert found["age_s"] < 60
    everything = begun(owner, orders, "group-stopped")
    assert check(owner, everything, "group-expiry")["numbers"]["lost_records"] == 7


def test_a_number_that_a_broker_does_not_say_makes_the_others_no_older(orders, owner):
    """A broker with a failed directory says nothing of its disks; it is in the cluster."""
    orders.gateway.fail_next("log_dirs", *[GatewayError("KAFKA_STORAGE_ERROR")] * 9)
    observed(orders)
    run = begun(owner, orders, "partitions-unavailable")
    (sections,) = ObservedCluster.objects.values_list("sections", flat=True)
    assert "KAFKA_STORAGE_ERROR" in sections["brokers"]["reason"], "it says what is not known"
    for name in ("brokers-alive", "partitions-offline"):
        assert check(owner, run, name)["outcome"] == "ok", name
    orders.gateway.offline = True
    observed(orders)
    for name in ("brokers-alive", "partitions-offline"):
        assert check(owner, run, name)["outcome"] == "unknown", name


def test_a_broker_that_is_gone_and_a_disk_that_fills_are_bad(orders, owner):
    orders.gateway.disks[2] = (1000, 100)
    orders.gateway.remove_broker(3)
    observed(orders)
    run = begun(owner, orders, "broker-down")
    found = check(owner, run, "brokers-alive")
    assert (found["outcome"], found["numbers"]["missing"]) == ("bad", 1)
    run = begun(owner, orders, "disk-full")
    assert "broker 2" in check(owner, run, "disk-usage")["text"]


def test_a_key_that_was_rotated_ends_and_is_no_trouble(orders, owner):
    soon = timezone.now() + timedelta(days=2)
    made = {"tenant": orders.tenant, "name": "pipeline", "scope": "read", "actor": SYSTEM}
    old, _ = api_key_create(**made, expires_at=soon)
    run = begun(owner, orders, "key-ending")
    found = check(owner, run, "key-ends")
    assert (found["outcome"], "pipeline on" in found["text"]) == ("bad", True)
    rotate = {"tenant": orders.tenant, "key_id": old.pk, "actor": SYSTEM, "overlap_s": 3600}
    later = timezone.now() + timedelta(days=90)
    new, _, _ = api_key_rotate(**rotate, expires_at=later)
    assert check(owner, run, "key-ends")["outcome"] == "ok"
    api_key_revoke(tenant=orders.tenant, key_id=new.pk, actor=SYSTEM)
    assert check(owner, run, "key-ends")["outcome"] == "bad", "nothing replaces it any more"


def test_brokers_of_a_cluster_that_is_gone_are_nobody_s_share(orders, owner, settings):
    settings.BROKERS_PER_TENANT = 1
    gone = cluster_make(orders.tenant, "gone")
    for number in (1, 2):
        Broker.objects.create(
            cluster=gone,
            broker_id=number,
            host_id="h",
            client_port=number,
            internal_port=100 + number,
        )
    run = begun(owner, orders, "quota-hit")
    before = check(owner, run, "tenant-limits")["numbers"]["brokers"]
    Cluster.objects.filter(pk=gone.pk).update(deleted_at=timezone.now())
    assert check(owner, run, "tenant-limits")["numbers"]["brokers"] == before - 2


# -- refusals


def test_a_run_that_is_over_or_lacks_what_is_needed_is_refused(orders, owner):
    run = begun(owner, orders, "operation-stuck")
    answer = owner.post(f"{API}/runbook-runs/{run['id']}/checks/1")
    assert (answer.status_code, answer.json()["code"]) == (409, "input-missing")
    address = f"/runbook-runs/{run['id']}"
    for path in ("checks/0", "checks/99", "checks/x", "acts/1"):
        assert post(owner, f"{address}/{path}").status_code == 404, path
    assert post(owner, f"{address}/end", {"outcome": "abandoned"}).status_code == 422
    assert post(owner, f"{address}/end", {"outcome": "escalated"}).status_code == 200
    for path, body in (("checks/2", None), ("end", {"outcome": "resolved"})):
        answer = post(owner, f"{address}/{path}", body)
        assert (answer.status_code, answer.json()["code"]) == (409, "run-ended")


def test_an_act_takes_its_own_blanks_alone_and_stays_with_what_the_run_is_about(orders, owner):
    run = begun(owner, orders)
    address = f"/runbook-runs/{run['id']}/acts/1"
    assert post(owner, address, {"inputs": {"name": "other"}}).status_code == 422
    planned = post(owner, address, {"inputs": {"topic": "other", "cluster": "cl_x"}}).json()
    plan = Plan.objects.get(pk=planned["plan_id"])
    assert (plan.inputs["name"], plan.cluster_id) == ("orders", orders.cluster.id)
    bad = post(owner, address, {"inputs": {"retention_ms": "soon"}})
    assert (bad.status_code, bad.json()["errors"][0]["pointer"]) == (422, "/inputs/retention_ms")
    assert RunbookEntry.objects.filter(run_id=run["id"]).count() == 1


def test_bad_starts_are_refused(orders, owner):
    for body, status in (
        ({"cluster_id": "cl_none"}, 404),
        ({"cluster_id": orders.cluster.id, "broker": -1}, 422),
        ({"cluster_id": orders.cluster.id, "topic": "x" * 250}, 422),
        ({"cluster_id": orders.cluster.id, "anything": 1}, 422),
    ):
        answer = post(owner, "/runbooks/broker-down/runs", body)
        assert answer.status_code == status, (body, answer.content)
    assert post(owner, "/runbooks/none/runs", {}).status_code == 404
    assert not RunbookRun.objects.exists()


def test_a_run_has_a_bound_and_a_tenant_has_one(orders, owner, monkeypatch):
    run = begun(owner, orders)
    row = RunbookRun.objects.get(pk=run["id"])
    RunbookEntry.objects.bulk_create(
        RunbookEntry(run=row, number=1, name="x", outcome="ok", actor="a")
        for _ in range(ENTRIES_MAX)
    )
    answer = owner.post(f"{API}/runbook-runs/{run['id']}/checks/1")
    assert (answer.status_code, answer.json()["code"]) == (409, "run-full")
    monkeypatch.setattr(services, "RUNS_OPEN_MAX", 1)
    answer = post(owner, "/runbooks/broker-down/runs", {"cluster_id": orders.cluster.id})
    assert (answer.status_code, answer.json()["code"]) == (429, "too-many-runs")


# -- who


def test_another_tenant_finds_nothing(orders, owner):
    run = begun(owner, orders)
    other = tenant_make("other")
    theirs = cluster_make(other, "theirs")
    stranger = client_for(other)
    assert stranger.get(f"{API}/runbook-runs").json()["data"] == []
    assert stranger.get(f"{API}/runbook-runs/{run['id']}").status_code == 404
    for path in ("checks/1", "acts/1", "end"):
        body = {"outcome": "resolved"} if path == "end" else {}
        assert post(stranger, f"/runbook-runs/{run['id']}/{path}", body).status_code == 404
    body = {"cluster_id": orders.cluster.id}
    assert post(stranger, "/runbooks/broker-down/runs", body).status_code == 404
    body = {"cluster_id": theirs.id, "operation_id": orders.run("topic.create", name="n").pk}
    mine = post(stranger, "/runbooks/operation-stuck/runs", body).json()
    found = stranger.post(f"{API}/runbook-runs/{mine['id']}/checks/1").json()
    assert (found["outcome"], found["text"]) == ("unknown", "Operation not found.")


def limited(world, name, *grants):
    client = client_for(world.tenant, "limited", name)
    Membership.objects.filter(user__username=name).update(grants=list(grants))
    return client


def grant(over, name, role="operator"):
    return {
        "role": role,
        "clusters": {"match": "literal", "name": "main"},
        "over": over,
        "names": {"match": "literal", "name": name},
    }


def test_who_sees_a_part_follows_runbooks_about_it_and_sees_only_their_own_runs(orders, owner):
    theirs = begun(owner, orders)
    some = limited(orders, "narrow", grant("topic", "orders"), grant("group", "readers"))
    assert scope_of("limited", []).sees_all is False
    assert some.get(f"{API}/runbook-runs/{theirs['id']}").status_code == 404
    assert some.get(f"{API}/runbook-runs").json()["data"] == []
    answer = post(
        some,
        "/runbooks/group-losing-data/runs",
        {"cluster_id": orders.cluster.id, "topic": "secret", "group": "readers"},
    )
    assert answer.status_code == 403
    mine = begun(some, orders)
    assert check(some, mine, "group-lag")["outcome"] == "bad"
    disks = check(some, mine, "disk-usage")
    assert (disks["outcome"], disks["numbers"]) == ("unknown", {})
    assert post(some, f"/runbook-runs/{mine['id']}/acts/1").status_code == 201
    Membership.objects.filter(user__username="narrow").update(grants=[grant("topic", "orders")])
    assert some.get(f"{API}/runbook-runs/{mine['id']}").status_code == 404


def test_an_act_needs_what_its_kind_needs(orders, owner):
    mine = [grant("topic", "orders", "viewer"), grant("group", "readers")]
    some = limited(orders, "reader", *mine)
    run = begun(some, orders)
    answer = post(some, f"/runbook-runs/{run['id']}/acts/1")
    assert answer.status_code == 403
    assert not Plan.objects.filter(kind="topic.retention_lease").exists()


# -- time


def test_runs_that_nobody_ends_are_abandoned_and_old_ones_deleted(orders, owner):
    run, old = begun(owner, orders), begun(owner, orders)
    assert runs_tidy() == (0, 0)
    now = timezone.now()
    RunbookRun.objects.filter(pk=run["id"]).update(created_at=now - OPEN_FOR - timedelta(hours=1))
    RunbookRun.objects.filter(pk=old["id"]).update(created_at=now - KEPT - timedelta(hours=1))
    assert runs_tidy() == (2, 1)
    (left,) = RunbookRun.objects.all()
    assert (left.pk, left.state, left.ended_by) == (run["id"], ABANDONED, "system")


@pytest.mark.parametrize("before", RUN_MOVES.states)
@pytest.mark.parametrize("after", RUN_MOVES.states)
def test_only_an_open_run_ends(before, after):
    row = RunbookRun(state=before)
    if before == OPEN and after != OPEN:
        row.move_to(after)
        assert row.state == after
    else:
        with pytest.raises(IllegalTransitionError):
            row.move_to(after)
