"""Facts of a cluster that is well, for tests to change."""

from datetime import UTC, datetime, timedelta

from controlplane.alerts import conditions
from controlplane.alerts.fact_types import (
    BrokerFact,
    ClusterFacts,
    GroupFacts,
    SeriesFact,
    TenantFacts,
    Trouble,
)
from controlplane.alerts.grouping import grouped
from controlplane.alerts.overrides import Tuning

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def ago(**span):
    return NOW - timedelta(**span)


def broker(number, **more):
    return BrokerFact(id=number, **{"live": True, "size_bytes": 1_000, "failed_dirs": (), **more})


def cluster(**more):
    values = {
        "id": "kc_1",
        "name": "main",
        "is_managed": True,
        "created_at": ago(days=30),
        "seen_at": ago(seconds=5),
        "brokers": (broker(1), broker(2), broker(3)),
        "controller_id": 1,
        "troubles": (),
        "agents_known": True,
        "sampled_at": ago(seconds=5),
        "groups": GroupFacts(as_of=ago(seconds=60), series=()),
        "judged_at": ago(seconds=60),
    }
    return ClusterFacts(**{**values, **more})


def series(**more):
    values = {"group": "billing", "topic": "orders", "status": "CAUGHT_UP", "lag_records": 5_000}
    return SeriesFact(**{**values, **more})


def with_groups(*rows, missing=()):
    return cluster(
        groups=GroupFacts(as_of=ago(seconds=60), series=rows, missing=frozenset(missing))
    )


def trouble(topic="orders", offline=None, behind=None, refusing=None):
    def frozen(found):
        return {frozenset(brokers): tuple(range(count)) for brokers, count in (found or {}).items()}

    return Trouble(topic, frozen(offline), frozen(behind), frozen(refusing))


def tenant(*clusters, **more):
    return TenantFacts(**{"id": "tn_1", "clusters": clusters, **more})


def judge(*clusters, tuning=None, now=NOW, **more):
    """The verdict over a tenant with these clusters."""
    return conditions.judge(tenant(*clusters, **more), tuning or Tuning(), now)


def holding(*clusters, **more):
    """Conditions that hold, by rule."""
    return {each.key.rule: each for each in judge(*clusters, **more).holds}


def unknown(*clusters, **more):
    """Rules of which all is unknown at some cluster."""
    return {each.rule for each in judge(*clusters, **more).unknown if each.subject is None}


def causes(*clusters, **more):
    """Conditions by cause, by rule."""
    managed = [each.id for each in clusters if each.is_managed]
    grouping = {name: more.pop(name) for name in ("raised", "lingering") if name in more}
    return {
        each.key.rule: each
        for each in grouped(judge(*clusters, **more).holds, managed=managed, **grouping)
    }
