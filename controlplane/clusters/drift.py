"""Drift of brokers: where one is not as the control plane wants it. Pure.

A cluster that runs elsewhere has no desired brokers, and so no drift of them.
"""

from collections.abc import Mapping
from typing import Any

from controlplane.observed.drift_sentences import difference_said


def broker_drift(
    wanted: Mapping[str, Any], found: Mapping[str, Any] | None, *, said: str = ""
) -> list[dict[str, Any]]:
    """Rows {field, desired, observed, text, text_code, params}.

    Args:
        wanted: id, host, port, rack.
        found: host, port, rack as the cluster has them; None: it is not in the cluster.
        said: what its host says of it, or "".
    """
    if found is None:
        away = difference_said(
            "broker/away", broker=wanted["id"], host=wanted["host"], said=said or None
        )
        return [{"field": "live", "desired": "true", "observed": "false", **away}]
    return [
        _shown(wanted["id"], name, _text(wanted[name]), _text(found[name]))
        for name in ("host", "port", "rack")
        if (wanted[name] or None) != (found[name] or None)
    ]


def _shown(broker: int, name: str, desired: str | None, observed: str | None) -> dict[str, Any]:
    return {
        "field": name,
        "desired": desired or "",
        "observed": observed or "",
        **difference_said(
            "broker/shown", broker=broker, field=name, observed=observed, desired=desired
        ),
    }


def _text(value: object) -> str | None:
    return str(value) if value else None
