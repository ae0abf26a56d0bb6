"""When each status and each risk is true: one table each, for Spark and for the collector alike.

A condition is written with operators over facts by name, which are arrays. Any fact may be unknown;
comparisons with it are unknown then, `&`, `|` and `~` are those of SQL, and unknown is not true.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Risk, Status, Trend

Condition = Any
"""An array of truths, with the operators."""


class Facts(Protocol):
    """What is known of a group on a topic, or of one partition of it."""

    def __getitem__(self, name: str) -> Any: ...

    def known(self, name: str) -> Condition:
        """Whether the fact is known; never unknown itself."""

    def sure(self, condition: Condition) -> Condition:
        """The condition, false where it is unknown."""

    def always(self) -> Condition:
        """True."""


def status_conditions(facts: Facts, rules: Rules) -> Sequence[tuple[Status, Condition]]:
    """Of a group on a topic, the worst first; of every group one is true.

    Facts: `lost_records`, `members`, `trend`, `stuck_s` (how long a partition that is behind has
    stood still), `uncommitted_s`, `committed_count`, `lag_records`, `enough` (samples for a trend),
    `behind_count`, `went_back`.
    """
    deserted = facts.sure(facts["members"] == 0)
    growing = facts["trend"] == Trend.GROWING.value
    shrinking = facts["trend"] == Trend.SHRINKING.value
    long_stuck = facts.sure(facts["stuck_s"] >= rules.quiet_s)
    any_committed = facts["committed_count"] > 0
    judged = facts.known("lag_records") & facts["enough"]
    behind = judged & (facts["behind_count"] > 0)
    went_back = facts["went_back"]
    return (
        (Status.DATA_LOST, facts["lost_records"] > 0),
        # A lag that grew at once, because the offset was set back, says nothing of the pace.
        (Status.STOPPED, behind & deserted & (long_stuck | (growing & ~went_back))),
        (Status.STALLED, behind & ~deserted & long_stuck),
        (Status.FALLING_BEHIND, behind & growing & ~went_back),
        (Status.REWOUND, behind & went_back),
        (Status.LAGGING, behind & ~shrinking),
        # Telemetry knows of members, not which of them owns the partition.
        (
            Status.NOT_COMMITTING,
            facts.sure(facts["uncommitted_s"] >= rules.quiet_s) & ~deserted,
        ),
        (Status.CATCHING_UP, behind & shrinking),
        (Status.UNKNOWN, any_committed & ~judged),
        (Status.NO_COMMIT, ~any_committed),
        (Status.CAUGHT_UP, judged),
    )


def risk_conditions(facts: Facts) -> Sequence[tuple[Risk, Condition]]:
    """Of one partition of a group; the first that is true, and of every partition one is.

    Facts: `committed_offset`, `log_end_offset`, `lost_records`, `unread` (a truth), `unlimited` (a
    truth: retention takes nothing at the present rates), `expires_s`, `keeps_up`, `eta_s`,
    `produce_rps`, `consume_rps`, `first_loss_s`, `soon_s` (what counts as soon, by the rules and by
    how long the topic keeps records).
    """
    expires, eta, first_loss = facts["expires_s"], facts["eta_s"], facts["first_loss_s"]
    rates_known = facts.known("produce_rps") & facts.known("consume_rps")
    aimless = ~facts.known("first_loss_s") & ~facts.known("eta_s")
    return (
        (Risk.UNKNOWN, (facts["committed_offset"] < 0) | ~facts.known("log_end_offset")),
        (Risk.LOSING, facts["lost_records"] > 0),
        (Risk.SAFE, ~facts["unread"] | facts["unlimited"]),
        (Risk.UNKNOWN, ~facts.known("expires_s")),
        (Risk.SAFE, facts["keeps_up"] | (eta < expires * 0.5)),
        (Risk.UNKNOWN, ~rates_known),
        (Risk.AT_RISK, first_loss <= facts["soon_s"]),
        (Risk.SAFE, aimless & (expires > facts["soon_s"])),
        (Risk.WATCH, facts.always()),
    )
