"""Log directories of brokers are added, emptied and taken away, whatever happens meanwhile."""

from dataclasses import replace

import pytest

from controlplane.clusters.capacity import Capacity
from controlplane.clusters.emptying_steps import ARRIVED, RATE_KEY, STALLED_S
from controlplane.clusters.models import Broker
from controlplane.clusters.reports import LogDir
from controlplane.common.problems import Conflict, Problem, Unavailable
from controlplane.gateway.errors import GatewayError
from controlplane.operations.services import operation_cancel, undo_plan_create
from tests.controlplane.kind_plans import add_broker, give_hosts_a_disk, use_disk
from tests.controlplane.support import ACTOR, drive, step

ADD, EMPTY = "cluster.add_log_directory", "cluster.empty_log_directory"


@pytest.fixture
def disks(world):
    """Brokers 1 to 3 on hosts that have a disk called `fast` beside the first."""
    for number in (1, 2, 3):
        add_broker(world, number)
    give_hosts_a_disk(world)
    world.gateway.add_topic("orders", partitions=3, rf=3, records=50)
    for part in world.gateway.topics["orders"].partitions:
        part.replicas = (1, 2, 3)
        part.led_by = None
    return world


@pytest.fixture
def used(disks):
    """Broker 1 has its replicas on `fast`."""
    use_disk(disks, 1, "orders")
    return disks


def row(number=1):
    return Broker.objects.get(broker_id=number)


def names(number=1):
    return row(number).log_dirs


def desired(world, number=1):
    (spec,) = [each for each in world.hosts.desired.values() if each["broker_id"] == number]
    return spec


def lies_in(world, broker=1):
    parts = world.gateway.topics["orders"].partitions
    return {part.lies_in.get(broker, "/data") for part in parts}


# -- adding
def test_every_broker_whose_host_has_it_gets_it_one_after_the_other(disks):
    plan = disks.plan(ADD, directory="fast", canary_s=0)
    assert [each["id"] for each in plan.diff["brokers"]] == [2, 3, 1], "the controller last"
    first = plan.diff["brokers"][0]
    assert first["log_dirs"] == {"before": ["main"], "after": ["main", "fast"]}
    assert (first["total_bytes"], first["free_bytes"]) == (10**12, 10**11)
    ended = drive(disks.start(plan))
    assert ended.state == "succeeded", ended.error
    assert [names(number) for number in (1, 2, 3)] == [["fast"]] * 3
    assert desired(disks)["log_dirs"] == ["fast"]
    assert lies_in(disks) == {"/data"}, "nothing is moved"


def test_what_has_one_directory_is_said_as_agents_of_before_know_it(disks):
    use_disk(disks, 2)
    assert "log_dirs" not in desired(disks, 1)
    assert "given_up" not in desired(disks, 1)


def test_one_whose_host_does_not_have_it_is_named(disks):
    only = disks.hosts.known[0]
    disks.hosts.known = [
        host if host is only else replace(host, capacity=Capacity()) for host in disks.hosts.known
    ]
    with pytest.raises(Conflict) as caught:
        disks.plan(ADD, directory="fast", brokers=[1, 2], canary_s=0)
    assert caught.value.code == "directory-not-there"
    (refused,) = caught.value.extra["brokers"]
    assert refused["broker_id"] == 2
    assert "earlier version" in refused["reason"]
    # Not asked for by name, those that cannot are left out.
    plan = disks.plan(ADD, directory="fast", canary_s=0)
    assert [each["id"] for each in plan.diff["brokers"]] == [1]


def test_a_disk_that_is_not_mounted_is_refused_with_the_agents_words(disks):
    give_hosts_a_disk(disks, problem="It holds no id of this host.")
    with pytest.raises(Conflict, match="no id of this host") as caught:
        disks.plan(ADD, directory="fast", canary_s=0)
    assert caught.value.code == "directory-not-there"


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"directory": "main"}, "validation"),
        ({"directory": "../x"}, "validation"),
        ({"directory": "bulk"}, "directory-not-there"),
        ({"directory": "fast", "brokers": [9]}, "validation"),
    ],
)
def test_what_cannot_be_added(disks, inputs, code):
    with pytest.raises(Problem) as caught:
        disks.plan(ADD, **inputs)
    assert caught.value.code in {code, "invalid", "validation-failed"}


def test_brokers_that_have_it_already(used):
    with pytest.raises(Conflict) as caught:
        used.plan(ADD, directory="fast", brokers=[1])
    assert caught.value.code == "nothing-to-do"


def test_the_same_disk_twice_is_said(disks):
    give_hosts_a_disk(disks, volume="1")
    plan = disks.plan(ADD, directory="fast", brokers=[1], canary_s=0)
    assert "same-disk" in {each["code"] for each in plan.impact["warnings"]}


def test_zookeeper_is_away(disks):
    disks.hosts.is_away = True
    with pytest.raises(Unavailable) as caught:
        disks.plan(ADD, directory="fast")
    assert caught.value.code == "zookeeper-away"


def test_a_disk_that_goes_before_the_restart_ends_it_with_nothing_done(disks):
    operation = disks.start(disks.plan(ADD, directory="fast", brokers=[1], canary_s=0))
    give_hosts_a_disk(disks, problem="It cannot be read: Input/output error.")
    ended = drive(operation)
    assert ended.state == "failed"
    assert ended.error["code"] == "directory-gone"
    assert names() == []
    assert row().generation == 1


def test_a_directory_that_the_broker_cannot_use_is_no_success(disks):
    disks.gateway.failed_dirs.add((1, "/disks/fast"))
    ended = disks.run(ADD, directory="fast", brokers=[1], canary_s=0)
    assert ended.error["code"] == "directory-failed"
    undo = undo_plan_create(tenant=disks.tenant, actor=ACTOR, operation_id=ended.id)
    assert undo.kind == EMPTY


def test_the_undo_empties_it_and_takes_it_away(disks):
    done = disks.run(ADD, directory="fast", brokers=[1], canary_s=0)
    for part in disks.gateway.topics["orders"].partitions:
        part.lies_in[1] = "/disks/fast"
    undone = drive(
        disks.start(undo_plan_create(tenant=disks.tenant, actor=ACTOR, operation_id=done.id))
    )
    assert undone.state == "succeeded", undone.error
    assert names() == []
    assert lies_in(disks) == {"/data"}


# -- emptying
def test_it_is_emptied_within_a_limit_and_then_taken_away(used):
    plan = used.plan(EMPTY, directory="fast", bytes_per_s=10_000_000, canary_s=0)
    (only,) = plan.diff["brokers"]
    assert only["log_dirs"] == {"before": ["main", "fast"], "after": ["main"]}
    assert (only["state"], only["leaving"], only["leaving_bytes"]) == ("working", 3, 15_000)
    assert only["moves"] == [{"directory": "main", "replicas": 3, "size_bytes": 15_000}]
    used.gateway.broker_overrides[1][RATE_KEY] = "777"
    seen = []
    operation = used.start(plan)
    alter = used.gateway.alter_replica_log_dirs

    def noting(broker, wanted):
        seen.append(used.gateway.broker_overrides[broker].get(RATE_KEY))
        return alter(broker, wanted)

    used.gateway.alter_replica_log_dirs = noting
    ended = drive(operation)
    assert ended.state == "succeeded", ended.error
    assert set(seen) == {"10000000"}
    assert used.gateway.broker_overrides[1][RATE_KEY] == "777", "as it was before"
    assert lies_in(used) == {"/data"}
    assert names() == []
    assert "log_dirs" not in desired(used)
    moved = step(ended, "move")
    assert (moved.progress_done, moved.progress_total) == (15_000, 15_000)


def test_it_may_stay_in_use(used):
    before = row().generation
    ended = used.run(EMPTY, directory="fast", remove=False)
    assert ended.state == "succeeded", ended.error
    assert lies_in(used) == {"/data"}
    assert names() == ["fast"]
    assert row().generation == before, "nobody is restarted"
    assert RATE_KEY not in used.gateway.broker_overrides[1]


def test_the_first_is_emptied_and_stays(used):
    for part in used.gateway.topics["orders"].partitions:
        part.lies_in.pop(1)
    with pytest.raises(Problem):
        used.plan(EMPTY, directory="main", brokers=[1])
    ended = used.run(EMPTY, directory="main", brokers=[1], remove=False)
    assert ended.state == "succeeded", ended.error
    assert lies_in(used) == {"/disks/fast"}


def test_it_is_refused_where_the_others_have_no_room(used):
    used.gateway.disks[1] = (100_000, 10_000)
    with pytest.raises(Conflict) as caught:
        used.plan(EMPTY, directory="fast")
    assert caught.value.code == "no-room"
    assert caught.value.extra["wanted_bytes"] == 15_000
    assert caught.value.extra["room_bytes"] == 5_000


def test_room_that_goes_meanwhile_ends_it_and_what_moved_is_said(used):
    operation = used.start(used.plan(EMPTY, directory="fast", canary_s=0))
    used.gateway.disks[1] = (100_000, 10_000)
    ended = drive(operation)
    assert ended.error["code"] == "no-room"
    assert names() == ["fast"]
    assert RATE_KEY not in used.gateway.broker_overrides[1], "the limit goes on every way out"


def moved_and_one_more_came(used):
    """An operation whose moves are done, after which a new replica is put where the fewest are."""
    operation = used.start(used.plan(EMPTY, directory="fast", canary_s=0))
    for _ in range(100):
        drive(operation, ticks=1)
        if step(operation, "move").state == "done":
            break
    used.gateway.topics["orders"].partitions[0].lies_in[1] = "/disks/fast"
    return operation


def test_a_replica_that_comes_in_right_before_the_restart_leaves_too(used):
    ended = drive(moved_and_one_more_came(used))
    assert ended.state == "succeeded", ended.error
    assert names() == []
    assert used.gateway.topics["orders"].partitions[0].lies_in[1] == "/data"


@pytest.mark.parametrize("names", [(), None])
def test_an_agent_that_says_nothing_for_a_while_is_waited_for(used, monkeypatch, names):
    """As right after its start: a directory that nobody names is not an empty one."""
    operation = used.start(used.plan(EMPTY, directory="fast", canary_s=0))
    report = used.hosts.report

    def silent(host_id, spec):
        said = report(host_id, spec)
        return replace(said, generation=0) if names is None else replace(said, log_dirs=names)

    for _ in range(100):
        drive(operation, ticks=1)
        if step(operation, "limit").state == "done":
            break
    with monkeypatch.context() as patch:
        patch.setattr(used.hosts, "report", silent)
        for _ in range(5):
            drive(operation, ticks=1)
        assert step(operation, "move").state != "done"
    ended = drive(operation)
    assert ended.state == "succeeded", ended.error
    assert lies_in(used) == {"/data"}


def test_one_that_comes_in_and_cannot_leave_keeps_the_directory(used, monkeypatch):
    operation = moved_and_one_more_came(used)
    monkeypatch.setattr(used.gateway, "arrive", lambda _broker: None)
    monkeypatch.setattr("controlplane.clusters.roll_steps.SAFE_S", -1.0)
    ended = drive(operation)
    assert ended.error["code"] == "roll-not-safe"
    assert "came into fast of broker 1" in ended.error["detail"]
    assert names() == ["fast"]
    assert RATE_KEY not in used.gateway.broker_overrides[1]


def test_a_move_that_gets_nowhere_ends_by_its_name(used, monkeypatch):
    operation = used.start(used.plan(EMPTY, directory="fast", canary_s=0))
    monkeypatch.setattr(used.gateway, "arrive", lambda _broker: None)
    monkeypatch.setattr("controlplane.clusters.emptying_steps.STALLED_S", -1.0)
    ended = drive(operation)
    assert ended.error["code"] == "moves-stalled"
    parts = used.gateway.topics["orders"].partitions
    assert not any(part.future for part in parts), "nothing moves any more"
    assert STALLED_S > 0


def test_cancelled_in_the_middle_what_moves_ends_where_it_was(used, monkeypatch):
    operation = used.start(used.plan(EMPTY, directory="fast", canary_s=0))
    monkeypatch.setattr(used.gateway, "arrive", lambda _broker: None)
    parts = used.gateway.topics["orders"].partitions
    for _ in range(100):
        drive(operation, ticks=1)
        if any(part.future for part in parts):
            break
    assert any(part.future for part in parts)
    operation_cancel(tenant=used.tenant, actor=ACTOR, operation_id=operation.id)
    ended = drive(operation)
    assert ended.state == "cancelled"
    assert not any(part.future for part in parts)
    assert lies_in(used) == {"/disks/fast"}
    assert ended.remains == [], "nothing had arrived, and nobody was restarted"


def test_cancelled_when_some_had_arrived_it_says_so(used, monkeypatch):
    monkeypatch.setattr("controlplane.clusters.emptying_steps.AT_ONCE", 1)
    operation = used.start(used.plan(EMPTY, directory="fast", canary_s=0))
    for _ in range(100):
        drive(operation, ticks=1)
        if len(lies_in(used)) == 2:
            break
    operation_cancel(tenant=used.tenant, actor=ACTOR, operation_id=operation.id)
    ended = drive(operation)
    assert ended.state == "cancelled"
    assert lies_in(used) == {"/data", "/disks/fast"}
    assert ended.remains == [ARRIVED]
    # The rest is another plan's.
    assert used.run(EMPTY, directory="fast", canary_s=0).state == "succeeded"


def test_a_refused_move_is_tried_again(used):
    used.gateway.fail_next(
        "alter_replica_log_dirs", GatewayError("REQUEST_TIMED_OUT", "", retriable=True)
    )
    assert used.run(EMPTY, directory="fast", canary_s=0).state == "succeeded"


# -- a disk that has failed
@pytest.fixture
def failed(used):
    """`fast` of broker 1 is broken; its replicas are led and in sync elsewhere."""
    used.gateway.failed_dirs.add((1, "/disks/fast"))
    for part in used.gateway.topics["orders"].partitions:
        part.out_of_sync = frozenset({1})
        part.led_by = 2
    return used


def test_what_lay_on_it_is_made_anew_elsewhere(failed):
    plan = failed.plan(EMPTY, directory="fast", canary_s=0)
    (only,) = plan.diff["brokers"]
    assert (only["state"], only["leaving"], only["leaving_bytes"]) == ("failed", 3, 15_000)
    assert "made-anew" in {each["code"] for each in plan.impact["warnings"]}
    operation = failed.start(plan)

    def heal(key, spec):
        if spec["broker_id"] == 1 and "log_dirs" not in spec:
            for part in failed.gateway.topics["orders"].partitions:
                part.out_of_sync = frozenset()
                part.lies_in.pop(1, None)

    failed.hosts.followers.append(heal)
    ended = drive(operation)
    assert ended.state == "succeeded", ended.error
    assert (names(), row().given_up_dirs) == ([], ["fast"])
    assert desired(failed)["given_up"] == ["fast"]
    assert "alter_replica_log_dirs" not in failed.gateway.calls
    # Added again, it is used again, and no longer one that was given up.
    failed.gateway.failed_dirs.clear()
    again = failed.run(ADD, directory="fast", brokers=[1], canary_s=0)
    assert again.state == "succeeded", again.error
    assert (names(), row().given_up_dirs) == (["fast"], [])
    assert "given_up" not in desired(failed)


def test_the_only_copy_is_never_taken_away(failed):
    part = failed.gateway.topics["orders"].partitions[0]
    part.out_of_sync = frozenset({2, 3})
    with pytest.raises(Conflict) as caught:
        failed.plan(EMPTY, directory="fast")
    assert caught.value.code == "only-copy"
    assert caught.value.extra["partitions"] == [{"topic": "orders", "partition": 0}]


def test_one_that_still_counts_as_in_sync_has_to_wait(failed):
    failed.gateway.topics["orders"].partitions[1].out_of_sync = frozenset()
    with pytest.raises(Conflict) as caught:
        failed.plan(EMPTY, directory="fast")
    assert caught.value.code == "still-in-sync"


def test_it_is_asked_of_every_broker_right_before(failed):
    operation = failed.start(failed.plan(EMPTY, directory="fast", canary_s=0))
    for part in failed.gateway.topics["orders"].partitions:
        part.out_of_sync = frozenset()
    failed.gateway.hold_back(3)
    for part in failed.gateway.topics["orders"].partitions:
        part.out_of_sync = frozenset({1})
    ended = drive(operation)
    assert ended.error["code"] == "still-in-sync"
    assert names() == ["fast"]


def test_a_disk_that_fails_while_it_is_emptied_is_another_plan(used):
    operation = used.start(used.plan(EMPTY, directory="fast", canary_s=0))
    used.gateway.failed_dirs.add((1, "/disks/fast"))
    ended = drive(operation)
    assert ended.error["code"] == "directory-failed"
    assert names() == ["fast"]


def test_a_disk_that_works_again_makes_the_plan_stale(failed):
    plan = failed.plan(EMPTY, directory="fast", canary_s=0)
    failed.gateway.failed_dirs.clear()
    with pytest.raises(Problem) as caught:
        failed.start(plan)
    assert caught.value.code == "plan-stale"


def test_what_its_host_keeps_is_no_success(used, monkeypatch):
    report = used.hosts.report

    def keeping(host_id, spec):
        said = report(host_id, spec)
        kept = LogDir(name="fast", path="/disks/fast", problem="It still holds replicas.")
        return replace(said, log_dirs=(*said.log_dirs[:1], kept))

    operation = used.start(used.plan(EMPTY, directory="fast", canary_s=0))
    monkeypatch.setattr(used.hosts, "report", keeping)
    serve = used.hosts.serve
    monkeypatch.setattr(
        used.hosts, "serve", lambda gateway, spec: serve(gateway, {**spec, "log_dirs": ["fast"]})
    )
    ended = drive(operation)
    assert ended.error["code"] == "directory-not-empty"
