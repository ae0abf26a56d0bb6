"""The rules about hosts. Their alerts are the operators': no tenant lists, sets or is told of them.

Pure. Ids begin with `host-`, which the database holds against the owner of an alert.
"""

from collections.abc import Mapping

from controlplane.alerts.rules import BY_ID, DAY_S, RULE_CHOICES, Reach, Rule, Severity, Threshold

PREFIX = "host-"


def _threshold(name: str, unit: str, default: float, most: float, what: str) -> Threshold:
    return Threshold(name=name, unit=unit, default=default, least=0.0, most=most, what=what)


HOST_RULES: tuple[Rule, ...] = (
    Rule(
        id="host-registry-away",
        title="Hosts are not known: ZooKeeper does not answer",
        severity=Severity.CRITICAL,
        runbook="zookeeper-unreachable",
        reach=Reach.HOST,
        for_s=30,
        clear_s=60,
    ),
    Rule(
        id="host-silent",
        title="Host is silent",
        severity=Severity.WARNING,
        runbook="host-silent",
        reach=Reach.HOST,
        # An agent that is restarted or installed anew is back well within that.
        for_s=120,
        clear_s=60,
    ),
    Rule(
        id="host-disk-filling",
        title="Host's disk fills up",
        severity=Severity.WARNING,
        runbook="host-disk-full",
        reach=Reach.HOST,
        for_s=60,
        clear_s=300,
        thresholds=(
            _threshold("used_share", "ratio", 0.8, 1.0, "Share used at which it warns"),
            _threshold("critical_share", "ratio", 0.9, 1.0, "Share used at which it is critical"),
        ),
    ),
    Rule(
        id="host-resources-low",
        title="Host has little memory, CPU or ports left",
        severity=Severity.WARNING,
        runbook="host-resources-low",
        reach=Reach.HOST,
        for_s=300,
        clear_s=300,
        thresholds=(
            _threshold("memory_share", "ratio", 0.1, 1.0, "Share of memory left at which it warns"),
            _threshold("load_per_core", "load", 2.0, 1e6, "Load a core from which it warns"),
            _threshold("ports", "ports", 2, 65_535, "Free ports below which it warns"),
        ),
    ),
    Rule(
        id="host-certificate-ending",
        title="Brokers' certificates on a host end soon",
        severity=Severity.WARNING,
        runbook="certificate-ending",
        reach=Reach.HOST,
        for_s=60,
        clear_s=60,
        thresholds=(
            _threshold("left_s", "s", 20 * DAY_S, 400 * DAY_S, "Time left at which it warns"),
            _threshold(
                "critical_s", "s", 3 * DAY_S, 400 * DAY_S, "Time left at which it is critical"
            ),
        ),
    ),
)
HOST_RULE_CHOICES = [(rule.id, rule.id) for rule in HOST_RULES]
EVERY_BY_ID: Mapping[str, Rule] = {**BY_ID, **{rule.id: rule for rule in HOST_RULES}}
"""Tenants' rules and these."""
EVERY_RULE_CHOICES = [*RULE_CHOICES, *HOST_RULE_CHOICES]


def is_of_operators(rule_id: str) -> bool:
    return rule_id.startswith(PREFIX)
