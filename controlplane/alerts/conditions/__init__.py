"""All rules of one tenant over its facts. Pure."""

from datetime import datetime

from controlplane.alerts.conditions import (
    brokers,
    disks,
    groups,
    log_dirs,
    objectives,
    operations,
    partitions,
    service,
)
from controlplane.alerts.conditions.types import Verdict
from controlplane.alerts.fact_types import TenantFacts
from controlplane.alerts.overrides import Tuning


def judge(facts: TenantFacts, tuning: Tuning, now: datetime) -> Verdict:
    """What holds of the tenant's alerts, and what is not known."""
    found = Verdict()
    for cluster in facts.clusters:
        found.add(brokers.judge(cluster, tuning, now))
        found.add(partitions.judge(cluster, tuning))
        found.add(disks.judge(cluster, tuning, now))
        found.add(log_dirs.judge(cluster, tuning))
        found.add(groups.judge(cluster, tuning))
        found.add(objectives.judge(cluster, tuning))
        found.add(service.judge_cluster(cluster, tuning, now))
    found.add(operations.judge(facts.operations, tuning, now))
    found.add(service.judge_tenant(facts, tuning, now))
    return found
