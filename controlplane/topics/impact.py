"""Who and what a topic's deletion hits; read through the gateway, best effort but honest."""

from typing import Any

from controlplane.common.words import counted
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import TP, AclBinding, TopicDescription
from controlplane.operations.operations import warning
from controlplane.topics.selectors import log_bounds

ALIVE_STATES = frozenset({"Stable", "PreparingRebalance", "CompletingRebalance"})


def deletion_impact(
    gateway: ClusterGateway, topic: TopicDescription
) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """({groups, acls, bytes, records}, warnings)."""
    readers = groups_reading(gateway, topic.name)
    acls = acls_on(gateway, topic.name)
    starts, ends = log_bounds(gateway, [topic])
    records = sum(ends[tp].offset - starts[tp].offset for tp in ends if tp in starts)
    leaders = {TP(topic.name, part.partition): part.leader for part in topic.partitions}
    held = sum(
        replica.size_bytes
        for replica in gateway.log_dirs([topic.name])
        if leaders.get(replica.tp) == replica.broker
    )
    warnings = []
    if records:
        warnings.append(
            warning(
                "data-loss",
                f"{counted(records, 'record')} ({counted(held, 'byte')})"
                f" {'is' if records == 1 else 'are'} deleted.",
                "danger",
            )
        )
    active = sorted(name for name, state in readers.items() if state in ALIVE_STATES)
    if active:
        warnings.append(
            warning("active-readers", f"Reading it right now: {', '.join(active)}.", "danger")
        )
    impact = {"groups": sorted(readers), "acls": acls, "bytes": held, "records": records}
    return impact, warnings


def groups_reading(gateway: ClusterGateway, topic: str) -> dict[str, str]:
    """Groups with committed offsets on the topic, and their states."""
    try:
        states = {listing.group: listing.state for listing in gateway.list_groups()}
        offsets = gateway.group_offsets(list(states))
    except GatewayError:
        return {}
    return {
        group: states[group]
        for group, committed in offsets.items()
        if any(tp.topic == topic for tp in committed)
    }


def acls_on(gateway: ClusterGateway, topic: str) -> int:
    try:
        return sum(_names(binding, topic) for binding in gateway.list_acls())
    except GatewayError:
        return 0


def _names(binding: AclBinding, topic: str) -> bool:
    return (
        binding.resource_type == "TOPIC"
        and binding.pattern_type == "LITERAL"
        and binding.resource_name == topic
    )
