"""Drift of brokers: where one is not as the control plane wants it. Pure.

A cluster that runs elsewhere has no desired brokers, and so no drift of them.
"""

from collections.abc import Mapping
from typing import Any


def broker_drift(
    wanted: Mapping[str, Any], found: Mapping[str, Any] | None, *, said: str = ""
) -> list[dict[str, Any]]:
    """Rows {field, desired, observed, text}.

    Args:
        wanted: id, host, port, rack.
        found: host, port, rack as the cluster has them; None: it is not in the cluster.
        said: what its host says of it, or "".
    """
    broker = f"Broker {wanted['id']}"
    if found is None:
        because = f"; its host says: {said}" if said else ""
        text = f"{broker} should run on {wanted['host']} and is not in the cluster{because}."
        return [{"field": "live", "desired": "true", "observed": "false", "text": text}]
    return [
        {
            "field": name,
            "desired": str(wanted[name] or ""),
            "observed": str(found[name] or ""),
            "text": f"{broker} shows the {name} {found[name] or 'none'} to clients;"
            f" it was placed with {wanted[name] or 'none'}.",
        }
        for name in ("host", "port", "rack")
        if (wanted[name] or None) != (found[name] or None)
    ]
