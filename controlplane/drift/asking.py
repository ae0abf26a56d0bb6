"""What each broker goes by, asked of each by itself: one that is silent costs one deadline."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.operations.read_back import brokers_named

BROKERS_MAX: Final = 100
SILENT_MAX: Final = 3
"""After so many that are silent the others are not asked this time."""
REASON_MAX: Final = 300
VALUE_MAX: Final = 1_000


@dataclass(slots=True)
class Asked:
    """`settings` as `models.DriftLook.settings`; `reason`: why not of all brokers."""

    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    reason: str = ""


def settings_now(gateway: ClusterGateway, keys: Collection[str]) -> Asked:
    """Raises GatewayError: nothing is known of any broker."""
    live = sorted(node.id for node in gateway.describe_cluster().brokers)
    found = Asked()
    silent: list[int] = []
    refused: GatewayError | None = None
    for broker in live[:BROKERS_MAX]:
        if len(silent) >= SILENT_MAX:
            silent.append(broker)
            continue
        try:
            entries = gateway.at(broker).broker_configs([broker], keys)[broker]
        except GatewayError as error:
            silent.append(broker)
            refused = error
            continue
        said: dict[str, Any] = dict.fromkeys(keys)
        for entry in entries:
            if entry.name in said:
                value = None if entry.value is None else entry.value[:VALUE_MAX]
                hidden = entry.sensitive or entry.value is None
                said[entry.name] = [value, entry.source, hidden]
        found.settings[str(broker)] = said
    if refused is not None and not found.settings:
        raise refused
    silent += live[BROKERS_MAX:]
    if silent:
        found.reason = f"{brokers_named(silent)} did not say"[:REASON_MAX]
    return found
