"""The knobs of the formulas."""

from __future__ import annotations

from dataclasses import dataclass

from spark_analytics.contracts.errors import ContractError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The knobs of the formulas. Everything a result depends on, apart from its input.

    A group is AT_RISK when, at its present pace, its first loss is at most `at_risk_s` away and at
    most `at_risk_share` of the time that the topic keeps records: a topic that keeps little is no
    risk by itself.
    """

    window_s: int = 30
    trend_s: int = 600
    offset_samples_lookback_s: int = 24 * 3600
    offset_samples_gap_max_s: int = 300
    samples_min: int = 5
    span_min_s: int = 180
    quiet_s: int = 300
    slo_s: float = 60.0
    allowed_lag_records: int = 0
    steady_records_per_s: float = 0.05
    at_risk_s: float = 24 * 3600.0
    at_risk_share: float = 0.5

    def __post_init__(self) -> None:
        if self.window_s <= 0 or self.trend_s < self.window_s:
            raise ContractError("rules: need window_s > 0 and trend_s >= window_s")
