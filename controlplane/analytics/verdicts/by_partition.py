"""What of a verdict's partitions is stored: who asks is told which of them is the cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from controlplane.analytics.verdicts.groups import Verdict

STORED: Final[Mapping[str, str]] = {
    "lag_s": "time_lag_s",
    "lag_s_at_least": "time_lag_at_least_s",
    "produce_records_per_s": "produce_rps",
    "consume_records_per_s": "consume_rps",
    "eta_s": "eta_s",
    "stuck_s": "unchanged_s",
    "uncommitted_s": "uncommitted_s",
    "expires_in_s": "expires_s",
    "first_loss_in_s": "first_loss_s",
    "lost_records": "lost_records",
    "is_behind": "behind",
}
"""Stored name → the formulas' name."""
DIGITS = 3


def kept_facts(verdict: Verdict) -> dict[str, list[float | None]] | None:
    """By stored name a list by partition number; null is unknown. None without partitions."""
    found = verdict.by_partition
    if found is None:
        return None
    kept = {}
    for name, of_formulas in STORED.items():
        values = np.round(found[of_formulas], DIGITS)
        known = np.isfinite(values)
        kept[name] = [
            value if is_known else None
            for value, is_known in zip(values.tolist(), known.tolist(), strict=True)
        ]
    return kept
