"""What each broker goes by, asked of each by itself: one that is silent costs one deadline, and all
together the look's (`gateway.patience.deadline`).
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

from controlplane.common.words import storable
from controlplane.gateway.errors import GatewayError, not_asked
from controlplane.gateway.patience import is_past
from controlplane.gateway.port import ClusterGateway
from controlplane.operations.read_back import brokers_named

BROKERS_MAX: Final = 100
SILENT_MAX: Final = 3
"""After so many that are silent the others are not asked this time."""
NAMED_MAX: Final = 10
"""Of brokers that did not say."""
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
        if len(silent) >= SILENT_MAX or is_past():
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
                value = None if entry.value is None else storable(entry.value)[:VALUE_MAX]
                hidden = entry.sensitive or entry.value is None
                said[entry.name] = [value, entry.source, hidden]
        found.settings[str(broker)] = said
    if live and not found.settings:
        raise refused or not_asked("describe configs")
    silent += live[BROKERS_MAX:]
    if silent:
        more = len(silent) - NAMED_MAX
        others = f" and {more} more" if more > 0 else ""
        named = brokers_named(silent[:NAMED_MAX])
        found.reason = f"{named}{others} did not say"[:REASON_MAX]
    return found
