"""Where a broker runs, what fails together with what, and what a configuration will mean. Pure."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from controlplane.operations.warnings import warning_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    broker_id: int
    host_id: str
    rack: str
    address: str
    client_port: int
    internal_port: int


def placement_warnings(
    placed: Sequence[Placement], *, replicas: int, min_isr: int
) -> list[dict[str, Any]]:
    """What goes with one host, and with one rack, that gets several of a cluster's brokers.

    Args:
        placed: all of the cluster's brokers.
        replicas: how many a partition has.
        min_isr: how many of them in sync a write with acks=all wants.
    """
    if len(placed) < 2:
        return []
    lost = partial(_lost, brokers=len(placed), replicas=replicas, min_isr=min_isr)
    hosts = Counter(each.host_id for each in placed)
    racks = Counter(each.rack for each in placed)
    rack_hosts = Counter({each.host_id: each.rack for each in placed}.values())
    found = []
    if len(hosts) == 1:
        found.append(warning_of("one-host"))
    else:
        # Hosts are the platform's: a tenant learns that brokers share one, not which.
        said = [lost(count) for count in dict.fromkeys(hosts[host] for host in sorted(hosts))]
        found += [warning_of(f"shared-host/{how}", **params) for how, params in said if how]
    # Of a rack that is one host all has been said.
    wide = sorted((name, count) for name, count in racks.items() if rack_hosts[name] > 1)
    if len(racks) == 1 and wide:
        found.append(warning_of("one-rack", "info"))
    else:
        of_racks = [(name, *lost(count)) for name, count in wide]
        found += [
            warning_of(f"shared-rack/{how}", "info", rack=name, **params)
            for name, how, params in of_racks
            if how
        ]
    return found


def _lost(count: int, *, brokers: int, replicas: int, min_isr: int) -> tuple[str, dict[str, Any]]:
    """What the loss of `count` of the brokers means, as the end of a sentence's code and what it
    takes; empty when every partition can be written.
    """
    together, left = min(count, replicas), max(replicas - count, 0)
    said: dict[str, Any] = {"lost": count, "brokers": brokers}
    if left >= min_isr:
        return "", {}
    if brokers - count < min_isr:
        return "too-few", {**said, "least": min_isr}
    if not left:
        return "offline", said
    return "unwritable", {**said, "together": together, "replicas": replicas}


def config_warnings(
    effective: Mapping[str, Any], *, chosen: Collection[str], broker_count: int
) -> list[dict[str, Any]]:
    """What the tenant's settings do together, and with this number of brokers.

    Args:
        effective: every setting of brokers and every default of topics, typed.
        chosen: the keys that the tenant set; nothing is said of the others.
        broker_count: how many brokers the cluster will have.
    """
    return [
        *_replica_warnings(effective, chosen, broker_count),
        *_min_isr_warnings(effective, chosen),
        *_keeping_warnings(effective, chosen),
    ]


def _replica_warnings(
    effective: Mapping[str, Any], chosen: Collection[str], broker_count: int
) -> list[dict[str, Any]]:
    return [
        warning_of(
            "too-few-brokers", "danger", key=key, replicas=effective[key], brokers=broker_count
        )
        for key in (
            "default.replication.factor",
            "offsets.topic.replication.factor",
            "transaction.state.log.replication.factor",
        )
        if key in chosen and effective[key] > broker_count
    ]


def _min_isr_warnings(
    effective: Mapping[str, Any], chosen: Collection[str]
) -> list[dict[str, Any]]:
    found = []
    for key, factor_key in (
        ("min.insync.replicas", "default.replication.factor"),
        ("transaction.state.log.min.isr", "transaction.state.log.replication.factor"),
    ):
        if key not in chosen and factor_key not in chosen:
            continue
        least, replicas = effective[key], effective[factor_key]
        if least > replicas:
            sentence = "unwritable"
        elif least == replicas > 1:
            sentence = "no-slack"
        else:
            continue
        found.append(warning_of(sentence, "danger", key=key, least=least, replicas=replicas))
    return found


def _keeping_warnings(
    effective: Mapping[str, Any], chosen: Collection[str]
) -> list[dict[str, Any]]:
    """Only whole segments are deleted, and one that is written to is not whole."""
    found = []
    for kept, rolled, keys in (
        ("retention.ms", "segment.ms", ("log.retention.", "log.roll.")),
        ("retention.bytes", "segment.bytes", ("log.retention.bytes", "log.segment.bytes")),
    ):
        is_chosen = any(key.startswith(keys) for key in chosen)
        if is_chosen and 0 <= effective[kept] < effective[rolled]:
            found.append(_kept_longer(kept, effective[kept], effective[rolled]))
    if "log.cleanup.policy" in chosen and "compact" in effective["cleanup.policy"]:
        found.append(warning_of("compact-by-default"))
    if effective["unclean.leader.election.enable"] and "unclean.leader.election.enable" in chosen:
        found.append(warning_of("unclean-election", "danger"))
    return found


def _kept_longer(key: str, kept: int, rolled: int) -> dict[str, Any]:
    if key == "retention.ms":
        sentence = "kept-longer/default-time"
        return warning_of(sentence, "info", kept_ms=kept, rolled_ms=rolled)
    return warning_of("kept-longer/default-size", "info", kept=kept, rolled=rolled)
