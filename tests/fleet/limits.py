"""Load by second, and which bound is met first as the fleet grows. Pure: costs and counts in.

Each limit is worked out alone, as if nothing else were one: at how many clusters, or hosts.
"""

from dataclasses import dataclass
from typing import Final

from tests.fleet.assumed import Assumed
from tests.fleet.costs import Costs

PINGS_PER_TIMEOUT: Final = 3
"""kazoo says that it lives three times within its session's timeout."""
QUESTION_S: Final = 0.02
"""Assumed: from a question to a broker until its answer."""
ZNODE_NAME_BYTES: Final = 13
JUTE_MAX_BYTES: Final = 2**20
"""ZooKeeper's default for an answer; one of children is their names, each with its length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The product's own bounds, as its settings say them; seconds."""

    observe_interval_s: float
    observers_max: int
    metrics_clusters_max: int
    page_wait_s: float
    report_every_s: float
    alerts_interval_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the simulation has counted."""

    brokers: int
    ticks: int
    rolled_s: float
    """Seconds of all clusters' rolls together."""
    restarts: int
    roll_lasted_s: float

    @property
    def ticks_per_roll_s(self) -> float:
        """Of one cluster that is being rolled."""
        return self.ticks / self.rolled_s


@dataclass(frozen=True, slots=True)
class Rate:
    what: str
    per_s: float


@dataclass(frozen=True, slots=True)
class Limit:
    """`at` of `unit`; `share` is how much of it the fleet uses: above 1 it is past it."""

    what: str
    at: float
    unit: str
    share: float
    meaning: str


def database_rates(costs: Costs, assumed: Assumed, settings: Settings, seen: Seen) -> list[Rate]:
    """Statements a second."""
    passes = min(assumed.clusters / settings.observe_interval_s, passes_per_s(costs, settings))
    ticks = seen.ticks / seen.roll_lasted_s
    return [
        Rate("beat, every task of its schedule", costs.beat_per_s(assumed.clusters)),
        Rate("observation, as many passes as may run", passes * costs.observe),
        Rate(f"the roll, {assumed.rolls_at_once} clusters at a time", ticks * costs.tick),
    ]


def zookeeper_rates(costs: Costs, assumed: Assumed, settings: Settings, seen: Seen) -> list[Rate]:
    """Operations a second; pings are answered by one server alone."""
    sessions = seen.brokers + assumed.hosts
    restarts = seen.restarts / seen.roll_lasted_s
    one = costs.fail_over.at(assumed.led_per_broker) + costs.registration
    # What a tick reads of one broker's host: its report, and whether its agent lives.
    reads = 2 * seen.ticks / seen.roll_lasted_s
    return [
        Rate("pings of sessions", sessions * PINGS_PER_TIMEOUT / assumed.session_timeout_s),
        Rate("agents' reports of capacity", assumed.hosts / settings.report_every_s),
        Rate("the roll: brokers that leave and register", restarts * one),
        Rate("the roll: reports that ticks read, at most", reads),
    ]


def passes_per_s(costs: Costs, settings: Settings) -> float:
    return settings.observers_max / (costs.questions * QUESTION_S)


def limits(
    costs: Costs, assumed: Assumed, settings: Settings, seen: Seen, rates: dict[str, list[Rate]]
) -> list[Limit]:
    """The one that is met first at the top."""
    clusters, hosts = assumed.clusters, assumed.hosts
    observed = passes_per_s(costs, settings) * settings.observe_interval_s
    rolled = assumed.threads / (assumed.tick_s * seen.ticks_per_roll_s)
    per_cluster = sum(row.per_s for row in rates["database"]) / clusters
    per_host = sum(row.per_s for row in rates["zookeeper"]) / hosts
    statements = assumed.database_statements_per_s / per_cluster
    operations = assumed.zookeeper_ops_per_s / per_host
    read = (
        settings.page_wait_s * assumed.zookeeper_ops_per_s - costs.hosts_read.fixed
    ) / costs.hosts_read.each
    alerts = costs.beat.get("alerts-evaluate")
    found = [
        _limit(
            "observation every interval",
            observed,
            "clusters",
            clusters,
            f"lists are {max(1.0, clusters / observed) * settings.observe_interval_s:,.0f} s old"
            f" where {settings.observe_interval_s:,.0f} are meant (PENSTOCK_OBSERVERS_MAX)",
        ),
        _limit(
            "series of metrics",
            settings.metrics_clusters_max,
            "clusters",
            clusters,
            "the others are one series (PENSTOCK_METRICS_CLUSTERS_MAX)",
        ),
        _limit(
            "threads that take ticks",
            rolled,
            "clusters rolled at once",
            assumed.rolls_at_once,
            "more rolls wait for a thread instead of for their brokers",
        ),
        _limit("the database", statements, "clusters", clusters, "statements a second"),
        _limit("ZooKeeper, all of it", operations, "hosts", hosts, "operations a second"),
        _limit(
            "one read of all hosts",
            read,
            "hosts",
            hosts,
            f"a page has {settings.page_wait_s} s for it; plans wait longer",
        ),
        _limit(
            "the list of hosts in one answer",
            JUTE_MAX_BYTES / ZNODE_NAME_BYTES,
            "hosts",
            hosts,
            "jute.maxbuffer",
        ),
    ]
    if alerts is not None:
        round_s = settings.alerts_interval_s * assumed.database_statements_per_s
        each = max(alerts[0].each, 1e-9)
        at = (round_s - alerts[0].fixed) / each
        found.append(
            _limit("one round over the alert rules", at, "clusters", clusters, "one process")
        )
    return sorted(found, key=lambda row: (-row.share, row.what))


def _limit(what: str, at: float, unit: str, now: float, meaning: str) -> Limit:
    return Limit(what, at, unit, now / at, meaning)
