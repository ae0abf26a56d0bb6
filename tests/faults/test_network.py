"""Links between brokers, and to ZooKeeper, are cut, one way or both, and slow."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.faults.chains.trial import PLACES, chain_trial
from tests.faults.cluster import ZOOKEEPER_START_S, FaultCluster, running
from tests.faults.network import Network, NoNamespacesError
from tests.faults.trial import trial
from tests.local_cluster import eventually

pytestmark = [pytest.mark.faults, pytest.mark.cluster]
PATIENCE_MS = 6000
SETTINGS = {
    # A third of the defaults (30 s, 18 s): how long a cut is tolerated changes nothing about
    # what must hold during and after it, and five cuts at the defaults would take four minutes.
    "replica.lag.time.max.ms": str(PATIENCE_MS),
    "zookeeper.session.timeout.ms": str(PATIENCE_MS),
}
NOTICED_MAX_S = 2 * PATIENCE_MS / 1000 + 10
"""Lag is looked at every half `replica.lag.time.max.ms`; the rest is a busy machine."""
BROKERS = ("b0", "b1", "b2")
ZOOKEEPER = "zk"


@pytest.fixture(scope="module")
def network(alone: None) -> Iterator[Network]:
    made = Network([*BROKERS, ZOOKEEPER])
    try:
        try:
            made.make()
        except NoNamespacesError as error:
            pytest.skip(f"no network namespaces here: {error}")
        with made.inside():
            yield made
    finally:
        made.remove()


@pytest.fixture(scope="module")
def zookeeper(
    tmp_path_factory: pytest.TempPathFactory, network: Network
) -> Iterator[EmbeddedZooKeeper]:
    server = EmbeddedZooKeeper(
        tmp_path_factory.mktemp("zookeeper"), host=network.places[ZOOKEEPER].address, port=2181
    )
    with network.inside(ZOOKEEPER):
        server.start(ZOOKEEPER_START_S)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, network: Network, zookeeper: EmbeddedZooKeeper
) -> Iterator[FaultCluster]:
    made = FaultCluster(
        tmp_path_factory.mktemp("faults"),
        zookeeper.connect_string,
        places=[network.places[broker] for broker in BROKERS],
        settings=SETTINGS,
    )
    with running(made) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def healed(network: Network) -> Iterator[None]:
    """A test that fails leaves no cut behind for the next."""
    yield
    network.heal()


def order(leader: int, *rest: int) -> list[list[int]]:
    return [[leader, *rest]]


@pytest.mark.slow
def test_a_leader_and_a_follower_lose_each_other(cluster: FaultCluster, network: Network) -> None:
    """Both still reach ZooKeeper: the follower falls out of the ISR, and comes back."""
    cluster.wait_until_whole()
    controller = cluster.controller()
    leader, follower = (controller + 1) % 3, (controller + 2) % 3
    with trial(cluster, "pair-cut", assignment=order(leader, controller, follower)) as run:
        network.cut(BROKERS[leader], BROKERS[follower])
        run.wait_for_isr_without(follower, within_s=NOTICED_MAX_S, asked=leader)
        run.wait_for_acks()
        assert cluster.leader_of(run.topic, asked=leader) == leader
        network.heal()
        run.settle()
        assert run.gap_s() < NOTICED_MAX_S


@pytest.mark.slow
def test_a_leader_and_the_controller_lose_each_other(
    cluster: FaultCluster, network: Network
) -> None:
    """Nobody grants the leader an ISR without the controller's broker, so it writes that itself."""
    cluster.wait_until_whole()
    controller = cluster.controller()
    leader, third = (controller + 1) % 3, (controller + 2) % 3
    with trial(cluster, "controller-cut", assignment=order(leader, controller, third)) as run:
        network.cut(BROKERS[leader], BROKERS[controller])
        # The third broker hears of it by the controller, which reads what the leader has written.
        run.wait_for_isr_without(controller, within_s=NOTICED_MAX_S, asked=third)
        run.wait_for_acks()
        assert cluster.controller(asked=third) == controller
        for asked in (leader, third):
            assert cluster.leader_of(run.topic, asked=asked) == leader
        network.heal()
        run.settle()
        assert run.gap_s() < NOTICED_MAX_S


@pytest.mark.slow
@pytest.mark.parametrize("deaf", ["follower", "leader"])
def test_packets_pass_one_way_only(cluster: FaultCluster, network: Network, deaf: str) -> None:
    cluster.wait_until_whole()
    controller = cluster.controller()
    leader, follower = (controller + 1) % 3, (controller + 2) % 3
    silenced = (leader, follower) if deaf == "follower" else (follower, leader)
    name = f"{deaf}-deaf"
    with trial(cluster, name, assignment=order(leader, controller, follower)) as run:
        network.cut_one_way(*(BROKERS[broker] for broker in silenced))
        run.wait_for_isr_without(follower, within_s=NOTICED_MAX_S, asked=leader)
        run.wait_for_acks()
        network.heal()
        run.settle()
        assert run.gap_s() < NOTICED_MAX_S


@pytest.mark.slow
@pytest.mark.parametrize("role", ["leader", "controller"])
def test_zookeeper_only_is_out_of_reach(cluster: FaultCluster, network: Network, role: str) -> None:
    """Its session ends, others lead, and clients still reach the one that led."""
    cluster.wait_until_whole()
    controller = cluster.controller()
    victim = controller if role == "controller" else (controller + 1) % 3
    others = [broker for broker in cluster.ids if broker != victim]
    with trial(cluster, f"{role}-without-zookeeper", assignment=order(victim, *others)) as run:
        network.cut(BROKERS[victim], ZOOKEEPER)
        run.wait_for_another_leader(victim, within_s=NOTICED_MAX_S, asked=others[0])
        run.wait_for_acks()
        assert cluster.controller(asked=others[0]) != victim
        time.sleep(2)  # clients that still ask the one that is cut off are sent on
        run.wait_for_acks()
        network.heal()
        run.settle()
        assert run.gap_s() < NOTICED_MAX_S


@pytest.mark.slow
def test_a_leader_is_unplugged(cluster: FaultCluster, network: Network) -> None:
    """Cut from everybody at once, with clients' requests on the way."""
    cluster.wait_until_whole()
    leader = (cluster.controller() + 1) % 3
    others = [broker for broker in cluster.ids if broker != leader]
    with trial(
        cluster,
        "unplugged",
        assignment=order(leader, *others),
        # A client waits this long for a host that does not answer before it asks another one; at
        # its default of 60 s the test would measure nothing but that.
        client={"socket.timeout.ms": 10_000},
    ) as run:
        network.unplug(BROKERS[leader])
        try:
            run.wait_for_another_leader(leader, within_s=NOTICED_MAX_S, asked=others[0])
            run.wait_for_acks()
            time.sleep(2)  # the new leader's log grows apart from what the old one has
        finally:
            network.plug(BROKERS[leader])
        run.settle()
        assert run.gap_s() < NOTICED_MAX_S


@pytest.mark.slow
def test_a_follower_sits_behind_a_slow_link(cluster: FaultCluster, network: Network) -> None:
    """Slower than the traffic: it lags, leaves the ISR, catches up when the link is fast again."""
    cluster.wait_until_whole()
    controller = cluster.controller()
    leader, follower = (controller + 1) % 3, (controller + 2) % 3
    assignment = order(leader, controller, follower)
    with trial(cluster, "slow-link", assignment=assignment, filling_bytes=2000) as run:
        network.slow_down(BROKERS[follower], rate="1mbit", latency="300ms")
        try:
            run.wait_for_isr_without(follower, within_s=NOTICED_MAX_S, asked=leader)
            run.acks_flow(2)
        finally:
            network.speed_up(BROKERS[follower])
        run.settle()
        assert run.gap_s() < NOTICED_MAX_S


@pytest.mark.slow
@pytest.mark.parametrize("place", list(PLACES))
def test_what_chains_need_is_cut_from_all_brokers(
    cluster: FaultCluster, network: Network, place: str
) -> None:
    """Clients, watchers and ZooKeeper still reach it: it leads what nobody replicates, until its
    transactions, offsets or records wait for an ISR that has shrunk below the minimum.
    """
    cluster.wait_until_whole()
    with chain_trial(cluster, f"{place}-cut") as run:
        victim = cluster.leader_of(*PLACES[place](run))
        for other in set(cluster.ids) - {victim}:
            network.cut(BROKERS[victim], BROKERS[other])
        run.replace_all()
        time.sleep(NOTICED_MAX_S)  # the ISR has shrunk, transactions have run out of time
        network.heal()
        run.wait_for_commits()
        run.settle()


@pytest.mark.slow
def test_a_coordinator_of_transactions_is_unplugged(
    cluster: FaultCluster, network: Network
) -> None:
    cluster.wait_until_whole()
    with chain_trial(cluster, "transactions-unplugged") as run:
        topic, partition = run.transactions_at()
        victim = cluster.leader_of(topic, partition)
        asked = (victim + 1) % 3
        network.unplug(BROKERS[victim])
        try:
            for _ in eventually(NOTICED_MAX_S, "another leader"):
                if cluster.leader_of(topic, partition, asked=asked) not in (victim, -1):
                    break
            run.replace_all()
            run.wait_for_commits()
        finally:
            network.plug(BROKERS[victim])
        run.wait_for_commits()
        run.settle()
