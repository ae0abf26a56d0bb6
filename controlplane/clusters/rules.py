"""Where a broker runs, what fails together with what, and what a configuration will mean. Pure."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from controlplane.common.words import counted, lasting
from controlplane.operations.operations import warning


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
) -> list[dict[str, str]]:
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
        found.append(warning("one-host", "All brokers share one host: they fail with it."))
    else:
        # Hosts are the platform's: a tenant learns that brokers share one, not which.
        said = (lost("One host", count) for _, count in sorted(hosts.items()))
        found += [warning("shared-host", text) for text in dict.fromkeys(said) if text]
    # Of a rack that is one host all has been said.
    wide = sorted((name, count) for name, count in racks.items() if rack_hosts[name] > 1)
    if len(racks) == 1 and wide:
        text = "All brokers share one rack: it can fail as a whole."
        found.append(warning("one-rack", text, "info"))
    else:
        said = (lost(f"Rack {name}", count) for name, count in wide)
        found += [warning("shared-rack", text, "info") for text in said if text]
    return found


def _lost(what: str, count: int, *, brokers: int, replicas: int, min_isr: int) -> str:
    """What the loss of `count` of the brokers means; empty when every partition can be written."""
    together, left = min(count, replicas), max(replicas - count, 0)
    if left >= min_isr:
        return ""
    if brokers - count < min_isr:
        meaning = f"no partition has the {counted(min_isr, 'replica')} in sync that writes want"
    elif not left:
        meaning = "partitions that have all their replicas there are offline"
    else:
        meaning = f"partitions that have {together} of {replicas} replicas there cannot be written"
    return f"{what} gets {count} of {brokers} brokers: while it is away {meaning}."


def config_warnings(
    effective: Mapping[str, Any], *, chosen: Collection[str], broker_count: int
) -> list[dict[str, str]]:
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
) -> list[dict[str, str]]:
    return [
        warning(
            "too-few-brokers",
            f"{key} {effective[key]} with {counted(broker_count, 'broker')}: {what}.",
            "danger",
        )
        for key, what in (
            ("default.replication.factor", "a topic without a factor of its own is refused"),
            ("offsets.topic.replication.factor", "consumer groups cannot commit offsets"),
            ("transaction.state.log.replication.factor", "transactions cannot begin"),
        )
        if key in chosen and effective[key] > broker_count
    ]


def _min_isr_warnings(
    effective: Mapping[str, Any], chosen: Collection[str]
) -> list[dict[str, str]]:
    found = []
    for key, factor_key in (
        ("min.insync.replicas", "default.replication.factor"),
        ("transaction.state.log.min.isr", "transaction.state.log.replication.factor"),
    ):
        if key not in chosen and factor_key not in chosen:
            continue
        least, replicas = effective[key], effective[factor_key]
        if least > replicas:
            text, code = "acks=all can never succeed", "unwritable"
        elif least == replicas > 1:
            text, code = "one broker down stops every acks=all write", "no-slack"
        else:
            continue
        found.append(
            warning(code, f"{key} {least} with {counted(replicas, 'replica')}: {text}.", "danger")
        )
    return found


def _keeping_warnings(
    effective: Mapping[str, Any], chosen: Collection[str]
) -> list[dict[str, str]]:
    """Only whole segments are deleted, and one that is written to is not whole."""
    found = []
    for kept, rolled, said, keys in (
        ("retention.ms", "segment.ms", lasting, ("log.retention.", "log.roll.")),
        (
            "retention.bytes",
            "segment.bytes",
            partial(counted, noun="byte"),
            ("log.retention.bytes", "log.segment.bytes"),
        ),
    ):
        is_chosen = any(key.startswith(keys) for key in chosen)
        if is_chosen and 0 <= effective[kept] < effective[rolled]:
            found.append(
                warning(
                    "kept-longer",
                    f"Data is kept for {said(effective[kept])} and deleted by whole segments,"
                    f" which end after {said(effective[rolled])}: it may stay that much longer.",
                    "info",
                )
            )
    if "log.cleanup.policy" in chosen and "compact" in effective["cleanup.policy"]:
        found.append(
            warning(
                "compact-by-default",
                "Topics are compacted unless they say otherwise: of each key only the latest value"
                " is kept, and records without a key are refused.",
            )
        )
    if effective["unclean.leader.election.enable"] and "unclean.leader.election.enable" in chosen:
        found.append(
            warning(
                "unclean-election",
                "unclean.leader.election.enable: a replica that is behind may become the leader;"
                " acknowledged records are lost then.",
                "danger",
            )
        )
    return found
