"""A log directory that has failed: known by its broker's word, one alert, the plan that may be next,
and that it is over.
"""

import pytest
from django.utils import timezone

from console.pages.attention_parts import attention_part
from controlplane.alerts import facts
from controlplane.alerts.fact_types import FailedDir
from controlplane.alerts.overrides import Tuning, Tweak
from controlplane.common.grants import EVERYTHING
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import LogDirSpace
from controlplane.observed import rows
from controlplane.operations.plans import plan_create
from tests.controlplane.alerts.builders import broker, causes, cluster, holding, trouble, unknown
from tests.controlplane.alerts.rounds import Rounds
from tests.controlplane.kind_plans import add_broker, give_hosts_a_disk, use_disk
from tests.controlplane.support import ACTOR, client_for, drive, observed

RULE = "log-directory-failed"
ERROR = "KAFKA_STORAGE_ERROR"
FAST = FailedDir("/disks/fast", ERROR, "fast")


# -- the rule
def test_it_holds_of_live_brokers_that_say_so():
    one = holding(cluster(brokers=(broker(1, failed_dirs=(FAST,)), broker(2))))[RULE]
    assert (one.severity, one.members, one.brokers) == ("warning", ("1",), {1})
    assert one.summary.startswith("main: 1 log directory has failed, broker 1's fast:")
    assert one.values == {"directory": "fast", "directories": 1}
    away = broker(1, live=False, failed_dirs=(FAST,))
    assert RULE not in holding(cluster(brokers=(away, broker(2))))


@pytest.mark.parametrize(
    "failed",
    [
        (FailedDir("/data", ERROR, "main"),),  # the first is never taken away
        (FailedDir("/data", ERROR),),  # of a broker that others run
        (FAST, FailedDir("/disks/slow", ERROR, "slow")),
    ],
)
def test_what_no_plan_can_take_away_is_not_named_for_one(failed):
    found = holding(cluster(brokers=(broker(1, failed_dirs=failed), broker(2))))[RULE]
    assert found.values["directory"] is None
    assert found.values["directories"] == len(failed)


def test_of_several_brokers_each_is_named():
    both = (broker(1, failed_dirs=(FAST,)), broker(2, failed_dirs=(FailedDir("/d" * 60, ERROR),)))
    found = holding(cluster(brokers=both, is_managed=False))[RULE]
    assert found.members == ("1", "2")
    assert found.values["directory"] is None
    assert "broker 1's fast, broker 2's …" in found.summary


def test_paths_of_hosts_are_not_told_to_tenants():
    """As right after the start of an agent, which does not say yet what it calls them."""
    failed = (FailedDir("/srv/disks/7", ERROR), FAST)
    found = holding(cluster(brokers=(broker(2, failed_dirs=failed),)))[RULE]
    assert "a log directory of broker 2, broker 2's fast: replicas" in found.summary
    assert "/srv" not in str(found)


def test_that_a_broker_does_not_say_it_is_unknown_and_never_well():
    silent = broker(2, failed_dirs=None)
    assert RULE in unknown(cluster(brokers=(broker(1), silent)))
    assert RULE in unknown(cluster(brokers=None, away="it does not answer"))
    assert RULE in holding(cluster(brokers=(broker(1, failed_dirs=(FAST,)), silent)))
    off = Tuning([Tweak(rule=RULE, enabled=False)])
    assert RULE not in unknown(cluster(brokers=(broker(1), silent)), tuning=off)


def test_partitions_that_lack_its_broker_alone_are_counted_inside():
    brokers = (broker(1, failed_dirs=(FAST,)), broker(2), broker(3))
    behind = cluster(brokers=brokers, troubles=(trouble("t", behind={(1,): 5}),))
    found = causes(behind)
    assert set(found) == {RULE}
    assert [(row.rule, row.count) for row in found[RULE].consequences] == [
        ("partitions-under-replicated", 5)
    ]
    assert found[RULE].severity == "warning"
    refusing = cluster(brokers=brokers, troubles=(trouble("t", offline={(1,): 1}),))
    assert causes(refusing)[RULE].severity == "critical"
    others = cluster(brokers=brokers, troubles=(trouble("t", behind={(2,): 5}),))
    assert set(causes(others)) == {RULE, "partitions-under-replicated"}


# -- what is read
def test_a_broker_that_names_no_directory_has_said_nothing():
    spaces = [
        LogDirSpace(broker=1, log_dir="/b", error=ERROR),
        LogDirSpace(broker=1, log_dir="/a", total_bytes=10, usable_bytes=5),
        LogDirSpace(broker=2, log_dir="/a", total_bytes=10, usable_bytes=5),
    ]
    assert rows.failed_dirs(spaces) == {1: [spaces[0]], 2: []}
    assert rows.fullest_disks(spaces) == {1: spaces[1], 2: spaces[2]}


@pytest.fixture
def disks(world):
    """Brokers 1 to 3 on hosts with a second disk; broker 1 has its replicas there."""
    for number in (1, 2, 3):
        add_broker(world, number)
    give_hosts_a_disk(world)
    world.gateway.add_topic("orders", partitions=3, rf=3, records=50)
    for part in world.gateway.topics["orders"].partitions:
        part.replicas = (1, 2, 3)
        part.led_by = None
    use_disk(world, 1, "orders")
    return world


def breaks(world):
    world.gateway.failed_dirs.add((1, "/disks/fast"))
    for part in world.gateway.topics["orders"].partitions:
        part.out_of_sync, part.led_by = frozenset({1}), 2


def failed_by_broker(world):
    observed(world)
    (tenant,) = facts.read(timezone.now(), {}).tenants
    (found,) = [each for each in tenant.clusters if each.id == world.cluster.id]
    return {each.id: each.failed_dirs for each in found.brokers if each.id != 4}


def test_it_is_known_by_the_host_s_name_of_it(disks):
    assert failed_by_broker(disks) == dict.fromkeys((1, 2, 3), ())
    breaks(disks)
    assert failed_by_broker(disks) == {1: (FAST,), 2: (), 3: ()}


def test_a_broker_that_cannot_say_its_sizes_still_says_it(disks, monkeypatch):
    """Kafka's answer about replicas is refused as a whole where one directory has failed."""
    breaks(disks)
    sizes = disks.gateway.log_dirs

    def refused(topics=None, *, brokers=None):
        if 1 in (brokers or ()):
            raise GatewayError(ERROR, "log dirs of broker 1")
        return sizes(topics, brokers=brokers)

    monkeypatch.setattr(disks.gateway, "log_dirs", refused)
    assert failed_by_broker(disks)[1] == (FAST,)


def test_what_was_not_read_is_not_known(disks):
    breaks(disks)
    disks.gateway.fail_next("log_dir_space", *[GatewayError("CLUSTER_AUTHORIZATION_FAILED")] * 9)
    assert failed_by_broker(disks) == dict.fromkeys((1, 2, 3), None)


# -- from its cause to its end
def alerts_of(client):
    found = client.get("/api/v1/alerts").json()["data"]
    return {row["rule"]: row for row in found}


def test_it_is_alerted_of_with_the_plan_that_has_its_replicas_made_anew(disks):
    client, rounds = client_for(disks.tenant), Rounds()
    breaks(disks)
    observed(disks)
    rounds.after(0)
    rounds.after(25)
    found = alerts_of(client)
    assert (found[RULE]["state"], found[RULE]["runbook"]) == ("firing", RULE)
    assert "partitions-under-replicated" not in found
    (row,) = [
        each for each in attention_part(disks.tenant, EVERYTHING).read() if each["rule"] == RULE
    ]
    step = row["next"]
    assert (row["broker"], step["kind"]) == (1, "cluster.empty_log_directory")
    assert step["inputs"] == {"directory": "fast", "brokers": [1]}
    plan = plan_create(
        tenant=disks.tenant,
        actor=ACTOR,
        kind_name=step["kind"],
        cluster_id=step["cluster_id"],
        inputs=step["inputs"] | {"canary_s": 0},
    )

    def heal(key, spec):
        if spec["broker_id"] == 1 and "log_dirs" not in spec:
            for part in disks.gateway.topics["orders"].partitions:
                part.out_of_sync = frozenset()
                part.lies_in.pop(1, None)

    disks.hosts.followers.append(heal)
    ended = drive(disks.start(plan))
    assert ended.state == "succeeded", ended.error
    observed(disks)
    rounds.after(5)
    rounds.after(65)
    assert alerts_of(client)[RULE]["state"] == "resolved"


def test_where_it_cannot_be_taken_away_the_broker_is_replaced(disks):
    rounds = Rounds()
    disks.gateway.failed_dirs.add((1, "/data"))
    observed(disks)
    rounds.after(0)
    rounds.after(25)
    (row,) = attention_part(disks.tenant, EVERYTHING).read()
    assert (row["rule"], row["next"]["kind"]) == (RULE, "cluster.replace_broker")
    assert row["next"]["inputs"] == {"broker": 1}
    type(disks.cluster).objects.update(kind="registered")
    (row,) = attention_part(disks.tenant, EVERYTHING).read()
    assert row["next"] is None
