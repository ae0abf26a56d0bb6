"""One seed from an empty fleet to its tables, and what has to hold whatever happens."""

from django.conf import settings as configured

from controlplane.clusters.hosts import READ_WAIT_S
from dataplane.agent.capacity import EVERY_S
from tests.fleet import costs, limits, report
from tests.fleet.assumed import Assumed
from tests.fleet.fleet import Fleet


def faults_of(fleet: Fleet) -> list[str]:
    """What must not be; nothing when all is well."""
    found = []
    if fleet.tally.shared_hosts:
        found.append(f"{fleet.tally.shared_hosts} partitions with two replicas on one host")
    if fleet.roll is not None and fleet.roll.broken:
        found.append(f"a roll took partitions below min ISR: {', '.join(fleet.roll.broken[:5])}")
    return found


def lines_of(seed: int, assumed: Assumed) -> tuple[list[str], list[str]]:
    fleet = Fleet(seed, assumed)
    fleet.run()
    lines = [
        *report.fleet_lines(fleet, seed),
        *report.balance_lines(fleet),
        *report.failure_lines(fleet),
        *report.roll_lines(fleet),
    ]
    if fleet.roll is not None and fleet.roll.ended_s is not None:
        with costs.database():
            measured = costs.measure()
        lines += cost_lines(fleet, measured)
    return lines, faults_of(fleet)


def cost_lines(fleet: Fleet, measured: costs.Costs) -> list[str]:
    roll = fleet.roll
    assert roll is not None
    assert roll.ended_s is not None
    bounds = limits.Settings(
        observe_interval_s=configured.OBSERVE_INTERVAL_S,
        observers_max=configured.OBSERVERS_MAX,
        metrics_clusters_max=configured.METRICS_CLUSTERS_MAX,
        page_wait_s=READ_WAIT_S,
        report_every_s=EVERY_S,
        alerts_interval_s=configured.ALERTS_INTERVAL_S,
    )
    seen = limits.Seen(
        brokers=sum(len(cluster.placed) for cluster in fleet.clusters),
        ticks=roll.ticks,
        rolled_s=sum(roll.took_s),
        restarts=roll.restarts,
        roll_lasted_s=roll.ended_s - roll.began_s,
    )
    rates = {
        "database": limits.database_rates(measured, fleet.assumed, bounds, seen),
        "zookeeper": limits.zookeeper_rates(measured, fleet.assumed, bounds, seen),
    }
    found = limits.limits(measured, fleet.assumed, bounds, seen, rates)
    counted = [
        ("statements of a tick of a roll, mean", f"{measured.tick:.1f}"),
        ("statements of a pass that finds nothing new", f"{measured.observe:.0f}"),
        ("questions to brokers of such a pass", f"{measured.questions}"),
        ("statements of a round over the alert rules", _linear(measured.beat["alerts-evaluate"][0], "cluster")),
        ("ZooKeeper's operations of a read of all hosts", _linear(measured.hosts_read, "host")),
        ("likewise of a broker's end", _linear(measured.fail_over, "partition that it led")),
        ("likewise of a broker's registration, all brokers'", f"{measured.registration:.0f}"),
        *((f"not measured: {name}", why) for name, why in measured.not_measured.items()),
    ]  # fmt: skip
    return [
        *report.table(("counted in this run", ""), counted),
        *report.rate_lines(rates, fleet.assumed),
        *report.limit_lines(found),
    ]


def _linear(cost: costs.Linear, each: str) -> str:
    return f"{cost.fixed:.0f} + {cost.each:.1f} a {each}"
