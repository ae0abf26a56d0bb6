"""The simulated fleet: what has to hold whatever happens, and that its checks see what is wrong."""

from dataclasses import replace

import pytest

from controlplane.clusters.rules import Placement
from tests.fleet import report
from tests.fleet.assumed import SMALL
from tests.fleet.cluster import SimulatedCluster
from tests.fleet.fleet import Fleet
from tests.fleet.roll import SimulatedRoller
from tests.fleet.run import faults_of


def lived(seed, assumed=SMALL):
    fleet = Fleet(seed, assumed)
    fleet.run()
    return fleet


def lines_of(fleet):
    return [*report.balance_lines(fleet), *report.failure_lines(fleet), *report.roll_lines(fleet)]


@pytest.fixture(scope="module")
def year():
    return lived(1)


def test_things_go_wrong_in_a_year(year):
    account = year.healing.account
    assert year.tally.outages
    assert account.begun == account.ended["healed"] + account.ended["failed"] > 0
    assert sum(map(len, account.healed_s.values())) == account.ended["healed"]
    assert year.tally.elections


def test_who_is_healed_by_itself_is_waited_for_as_long_as_the_policy_says(year):
    for mode, least_s in (
        ("automatic", SMALL.replace_after_s),
        ("ask", SMALL.replace_after_s + SMALL.answered_after_s),
        ("off", SMALL.by_hand_after_s),
    ):
        assert all(took_s > least_s for took_s in year.healing.account.healed_s[mode]), mode


def test_nothing_that_must_not_be(year):
    assert faults_of(year) == []
    assert all(cluster.is_whole() for cluster in year.clusters)
    assert year.tally.no_place == 0


def test_replicas_are_on_hosts_of_their_own_and_on_brokers_that_are_there(year):
    for cluster in year.clusters:
        assert cluster.shared() == 0
        for replicas in cluster.assignment.values():
            assert len(set(replicas)) == SMALL.replicas
            assert cluster.placed.keys() >= set(replicas)


def test_a_host_gives_no_port_twice(year):
    for host in year.hosts.values():
        rows = [cluster.placed[broker] for cluster, broker in host.brokers]
        ports = [port for row in rows for port in (row.client_port, row.internal_port)]
        assert len(set(ports)) == len(ports)


def test_every_broker_is_rolled_once(year):
    roll = year.roll
    assert roll.ended_s is not None
    assert roll.restarts == sum(len(cluster.placed) for cluster in year.clusters)
    assert len(roll.took_s) == len(year.clusters)
    assert roll.open == 0


def test_the_same_seed_does_the_same(year):
    assert lines_of(lived(1)) == lines_of(year)
    assert lines_of(lived(2)) != lines_of(year)


def test_few_threads_make_rolls_slow(year):
    slow = lived(1, replace(SMALL, threads=1, tick_s=0.5, days=10.0))
    assert slow.roll.ended_s - slow.roll.began_s > year.roll.ended_s - year.roll.began_s
    assert slow.roll.restarts == year.roll.restarts


def test_a_roll_waits_for_a_lost_host_and_goes_on_later():
    fleet = Fleet(3, replace(SMALL, days=6.5))
    fleet.run_until(5 * 86_400.0 - 60.0)
    name = fleet.clusters[0].placed[1].host_id
    fleet.lose(name)
    # Its self-healing is off: an operator acts a day later.
    fleet.run_until(6.5 * 86_400.0)
    # The broker of the lost host is the first of its roll, and does not come back.
    assert fleet.roll.not_safe
    assert set(fleet.roll.not_safe) <= {"broker-not-back", "broker-gone", "roll-not-safe"}
    assert fleet.roll.broken == []
    assert fleet.roll.ended_s is not None


def test_a_roll_that_looks_at_nothing_is_seen(monkeypatch):
    """The account of a roll does not take its own word for it."""

    def careless(self):
        for broker in list(self.book.waiting):
            self.book.move(broker, "restarting", self.now_s)
            self.start(broker)
        raise AssertionError("it has taken all brokers at once")

    monkeypatch.setattr(SimulatedRoller, "tick", careless)
    fleet = Fleet(1, replace(SMALL, days=5.1))
    with pytest.raises(AssertionError, match="at once"):
        fleet.run()
    assert fleet.roll.broken
    assert "below min ISR" in faults_of(fleet)[0]


def placed(*hosts):
    return [
        Placement(
            broker_id=number,
            host_id=host,
            rack=host,
            address=host,
            client_port=9_000 + number,
            internal_port=9_100 + number,
        )
        for number, host in enumerate(hosts, 1)
    ]


def filled(*hosts):
    cluster = SimulatedCluster("one", placed(*hosts))
    cluster.fill(Fleet(1, replace(SMALL, clusters=0)).rng, SMALL)
    return cluster


def test_two_replicas_on_one_host_are_counted():
    assert filled("a", "b", "c").shared() == 0
    assert filled("a", "b", "b").shared() == SMALL.led_per_broker * 3


def replaced_after(*lost, days=0.9, between_s=0.0, policy=0):
    """A small fleet with nothing but what is asked for: whose brokers are elsewhere in the end."""
    fleet = Fleet(3, replace(SMALL, clusters=policy + 1), misfortunes=False)
    cluster = fleet.clusters[policy]
    before = {broker: row.host_id for broker, row in cluster.placed.items()}
    for number, broker in enumerate(lost):
        fleet.events.after(number * between_s, lambda host=before[broker]: fleet.lose(host))
    fleet.run_until(days * 86_400.0)
    return fleet, [b for b, row in cluster.placed.items() if row.host_id != before[b]]


def test_a_lost_host_is_replaced_by_itself():
    fleet, elsewhere = replaced_after(1, policy=2)
    assert elsewhere == [1]
    assert fleet.clusters[2].is_whole()


def test_two_at_once_may_be_a_cut_and_wait_for_people():
    fleet, elsewhere = replaced_after(1, 2, policy=2)
    assert elsewhere == []
    assert fleet.healing.account.waited["several-silent"] > 100


def test_two_far_apart_are_two_misfortunes():
    """Though the first host is silent still, with brokers of clusters that nobody heals."""
    fleet, elsewhere = replaced_after(1, 2, between_s=4 * 3_600.0, policy=2)
    assert elsewhere == [1, 2]
    assert fleet.clusters[2].is_whole()


def test_one_that_asks_waits_for_its_answer():
    assert replaced_after(1, policy=1, days=0.15)[1] == []
    assert replaced_after(1, policy=1)[1] == [1]


def test_where_it_is_off_an_operator_acts_in_the_end():
    assert replaced_after(1, policy=0)[1] == []
    assert replaced_after(1, policy=0, days=1.2)[1] == [1]


def test_partitions_refuse_writes_while_too_few_are_in_sync():
    cluster = filled("a", "b", "c")
    cluster.end(1)
    assert cluster.unwritable() == 0
    cluster.end(2)
    assert cluster.unwritable() == cluster.context.partition_count
    cluster.forget_dead()
    cluster.register(1)
    cluster.catch_up(1)
    assert cluster.unwritable() == 0
    assert not cluster.is_whole()
    cluster.register(2)
    cluster.catch_up(2)
    assert cluster.is_whole()
