"""What is done to the hosts under traffic. Each leaves the cluster whole again.

To add one: a function of a Run, and its row in SCENARIOS. What it returns stands as the remark.
"""

from __future__ import annotations

import os
import signal
import time

from tests.controlplane.live.holds import AFTER, BEFORE
from tests.hosts.middle import succeeded
from tests.hosts.planned import PLANNED
from tests.hosts.site import LAG_TIME_S, SESSION_TIMEOUT_S, SMALL_HOST
from tests.hosts.stage import BROKERS, PLANNED_BOUND_S, PLANNED_GAP_S, Run, Scenario
from tests.local_cluster import eventually

CREATED = "a cluster created over three hosts"
LOST_GAP_S = SESSION_TIMEOUT_S + 2
CUT_GAP_S = 12.0
"""A leader looks four times in `replica.lag.time.max.ms` for followers that trail by it, and asks a
controller that does not answer for 1.5 s."""
assert CUT_GAP_S >= 1.25 * LAG_TIME_S + 1.5
LONG_CUT_S = 2 * CUT_GAP_S
WIPED_S = 60.0
AFTERWARDS_S = 3.0
"""Of traffic while something is still broken: what it does to those that go on."""


# -- planned --------------------------------------------------------------------------------------


def restart_by_operation(run: Run) -> str:
    """A broker that leads: it hands its partitions over before it stops."""
    succeeded(run.service.run("broker.restart", broker=2))
    run.whole()
    return "broker 2, which led"


def kill_a_worker_meanwhile(run: Run) -> str:
    plan = run.service.plan("broker.restart", broker=1)
    succeeded(run.service.run_through_kills(plan, ("restart", AFTER), ("registration", BEFORE)))
    run.whole()
    return "broker 1; killed after the restart was asked for, and before it was seen"


def kill_the_agent_meanwhile(run: Run) -> str:
    """Before it reads what is desired now; its next life carries that out."""
    host = run.service.host_of(3)
    plan = run.service.plan("broker.restart", broker=3)
    run.service.holds.place("broker.restart", "restart", BEFORE)
    operation = run.service.confirm(plan)
    held = run.service.holds.await_held()
    run.site.kill_agent(host)
    run.service.holds.let_go(held["operation_id"])
    run.traffic.flows_for(AFTERWARDS_S)
    run.site.start_host(host)
    succeeded(run.service.finish(operation))
    run.whole()
    return f"broker 3; nobody was there on {host} to restart it at first"


def kill_the_controller_meanwhile(run: Run) -> str:
    """SIGKILL to the active controller while another broker comes back."""
    controller = run.traffic.controller()
    broker = run.others(controller)[0]
    plan = run.service.plan("broker.restart", broker=broker)
    run.service.holds.place("broker.restart", "process", BEFORE)
    operation = run.service.confirm(plan)
    held = run.service.holds.await_held()
    os.kill(run.site.pid_of(controller), signal.SIGKILL)
    run.service.holds.let_go(held["operation_id"])
    succeeded(run.service.finish(operation))
    run.whole()
    return f"controller {controller}, killed while broker {broker} was restarted"


# -- lost and cut ---------------------------------------------------------------------------------


def lose_a_host(run: Run) -> str:
    """All its processes at once, and it stays away until everything is accounted for."""
    host = run.service.host_of(2)
    run.site.kill_host(host)
    run.traffic.wait_until_whole(run.others(2))
    run.traffic.flows_for(AFTERWARDS_S)
    return f"{host}, which led; nobody was left to fence its broker"


def host_is_back(run: Run) -> None:
    run.site.start_host(run.service.host_of(2))


def lose_a_host_for_good(run: Run) -> str:
    """Declared lost, its broker is built anew elsewhere; what comes back is wiped of it."""
    run.site.empty_hosts()
    host = run.service.host_of(2)
    left = run.service.data_dir(host) / f"{run.service.cluster_id}-2"
    run.site.kill_host(host)
    run.traffic.wait_until_whole(run.others(2))
    run.site.declare_lost(host)
    plan = run.service.plan("cluster.replace_broker", broker=2)
    assert plan["diff"]["way"] == "rebuild", plan["diff"]
    succeeded(run.service.finish(run.service.confirm(plan)))
    run.whole()
    assert left.exists(), "nobody was there to remove it"
    run.site.start_host(host)
    for _ in eventually(WIPED_S, f"{host} has nothing of broker 2"):
        if not left.exists():
            break
    run.whole()
    run.site.welcome(host)
    return f"{host}, declared lost; its broker was built anew on {run.service.host_of(2)}"


def lose_power(run: Run) -> str:
    """Nothing answers any more, not even by a refusal: whoever asks waits."""
    host = run.service.host_of(1)
    run.site.network.unplug(host)
    run.site.kill_host(host)
    run.traffic.wait_until_whole(run.others(1))
    run.traffic.flows_for(AFTERWARDS_S)
    return f"{host}, which led; its address takes packets and answers none"


def power_is_back(run: Run) -> None:
    host = run.service.host_of(1)
    run.site.network.plug(host)
    run.site.start_host(host)


def cut_from_zookeeper(run: Run) -> str:
    host = run.service.host_of(1)
    run.site.cut_from_zookeeper(host)
    try:
        run.traffic.wait_until_whole(run.others(1))
        run.traffic.flows_for(AFTERWARDS_S)
    finally:
        run.site.network.heal()
    run.whole()
    return f"{host}; clients and brokers still reach it"


def cut_two_hosts(run: Run) -> str:
    """Both reach ZooKeeper and the controller: nobody is fenced, their followers fall behind."""
    one, other = map(run.service.host_of, run.others(run.traffic.controller()))
    run.site.network.cut(one, other)
    try:
        run.traffic.flows()
        run.traffic.flows_for(2 * LAG_TIME_S)
    finally:
        run.site.network.heal()
    run.whole()
    return f"{one} and {other}; replica.lag.time.max.ms is {LAG_TIME_S:g} s"


def cut_from_the_controller(run: Run) -> str:
    """A leader whose follower is beyond the cut cannot ask for an ISR without it: it writes that."""
    controller = run.traffic.controller()
    hosts = run.service.host_of(controller), run.service.host_of(run.others(controller)[0])
    run.site.network.cut(*hosts)
    time.sleep(LONG_CUT_S)  # how long the cut lasts
    run.site.network.heal()
    run.whole()
    return f"{hosts[0]}, where the controller is, and {hosts[1]}, for {LONG_CUT_S:g} s"


def fill_a_disk(run: Run) -> str:
    """The only log directory of a broker that leads."""
    (broker,) = [each for each in BROKERS if run.service.host_of(each) == SMALL_HOST]
    run.site.disk.fill()
    try:
        run.traffic.wait_until_left(broker)
        run.traffic.flows_for(AFTERWARDS_S)
    finally:
        run.site.disk.free()
    run.whole()
    return f"of {SMALL_HOST}, where broker {broker} led; it came back when there was room"


SCENARIOS = (
    Scenario(
        "a broker restarted by operation", restart_by_operation, PLANNED_GAP_S, PLANNED_BOUND_S
    ),
    Scenario("a host lost", lose_a_host, LOST_GAP_S, after=host_is_back),
    Scenario("a host lost for good", lose_a_host_for_good, LOST_GAP_S),
    Scenario("a host without power", lose_power, LOST_GAP_S, after=power_is_back),
    Scenario("a host cut from ZooKeeper", cut_from_zookeeper, LOST_GAP_S),
    Scenario("two hosts cut from each other", cut_two_hosts, CUT_GAP_S),
    Scenario("a host cut from the controller's", cut_from_the_controller, CUT_GAP_S),
    Scenario("a disk full", fill_a_disk, None),
    Scenario("a restart, its worker killed", kill_a_worker_meanwhile, PLANNED_GAP_S),
    Scenario("a restart, its agent killed", kill_the_agent_meanwhile, PLANNED_GAP_S),
    Scenario("a restart, the controller killed", kill_the_controller_meanwhile, None),
    *PLANNED,
)
