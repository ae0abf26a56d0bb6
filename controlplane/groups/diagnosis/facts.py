"""What a diagnosis is made of, and what it says. None is unknown everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from spark_analytics.contracts.statuses import (
    RISK_SEVERITY,
    STATUS_SEVERITY,
    Risk,
    Severity,
    Status,
    rank,
)

_HARM = list(Severity)


def worse_severity(status: Status, risk: Risk) -> Severity:
    return max(STATUS_SEVERITY[status], RISK_SEVERITY[risk], key=_HARM.index)


def harm_of(status: Status, risk: Risk) -> tuple[int, int, int]:
    """Sorts the worst last: by the worse of the two, then by each."""
    return _HARM.index(worse_severity(status, risk)), rank(status), rank(risk)


class Cause(StrEnum):
    """Why a group is where it is; the words that clients may branch on."""

    DATA_LOST = "data_lost"
    STOPPED = "stopped"
    REBALANCING = "rebalancing"
    NOT_OWNED = "not_owned"
    STUCK_PARTITION = "stuck_partition"
    STUCK_MEMBER = "stuck_member"
    STALLED = "stalled"
    HOT_PARTITION = "hot_partition"
    SLOW_MEMBER = "slow_member"
    SKEWED = "skewed"
    TOO_FEW_MEMBERS = "too_few_members"
    TOO_SLOW = "too_slow"
    REWOUND = "rewound"
    NOT_COMMITTING = "not_committing"
    NEVER_COMMITTED = "never_committed"
    CATCHING_UP = "catching_up"
    IDLE_MEMBERS = "idle_members"
    NOBODY = "nobody"
    CAUGHT_UP = "caught_up"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a group stands in one partition.

    Attributes:
        committed: None: no commit.
        owner: id of the member that it is assigned to; None: nobody's.
        stuck_s: how long the committed offset has stood still.
        is_behind: more is unread than arrives between two samples, and it is older than a minute.
    """

    topic: str
    partition: int
    committed: int | None = None
    log_start: int | None = None
    log_end: int | None = None
    owner: str | None = None
    lag_s: float | None = None
    lag_s_at_least: float | None = None
    produce_records_per_s: float | None = None
    consume_records_per_s: float | None = None
    eta_s: float | None = None
    stuck_s: float | None = None
    first_loss_in_s: float | None = None
    expires_in_s: float | None = None
    lost_records: int | None = None
    is_behind: bool | None = None

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def lag(self) -> int | None:
        """Records behind the commit; None without one, or while the end is not known."""
        if self.committed is None or self.log_end is None:
            return None
        return max(self.log_end - self.committed, 0)

    @property
    def held(self) -> int | None:
        if self.log_start is None or self.log_end is None:
            return None
        return self.log_end - self.log_start

    @property
    def growth(self) -> float | None:
        """By how many records the lag grows each second."""
        if self.produce_records_per_s is None or self.consume_records_per_s is None:
            return None
        return self.produce_records_per_s - self.consume_records_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a group does on one topic, as last judged: by the collector, or by Spark.

    Attributes:
        stale_after_ms: a newer verdict is due by then.
        is_live: by the collector, which keeps what it knows of each partition.
        by_partition: facts by name, lists by partition number; None: not kept, or not read.
    """

    topic: str
    status: Status
    risk: Risk
    sampled_ms: int
    stale_after_ms: int
    partitions: int
    is_live: bool = False
    lag_records: int | None = None
    lag_s: float | None = None
    lag_s_at_least: float | None = None
    produce_records_per_s: float | None = None
    consume_records_per_s: float | None = None
    eta_s: float | None = None
    lost_records: int | None = None
    expires_in_s: float | None = None
    first_loss_in_s: float | None = None
    by_partition: Mapping[str, list[float | None]] | None = None

    @property
    def severity(self) -> Severity:
        """Of the worse of the two: what the group does, and what retention does to it."""
        return worse_severity(self.status, self.risk)

    @property
    def harm(self) -> tuple[int, int, int, int]:
        """Sorts the worst last."""
        return *harm_of(self.status, self.risk), self.lag_records or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFacts:
    """A group as the brokers describe it, with the verdicts on it.

    Attributes:
        members: by id, a name for people. In a list only how many are there is known: `count`.
        places: empty where they were not read.
        uncommitted_partitions: of the topics that it uses, those without a commit.
        uncommitted_records: what these hold.
    """

    state: str
    count: int
    now_ms: int
    members: Mapping[str, str] = field(default_factory=dict)
    standings: tuple[Standing, ...] = ()
    places: tuple[Place, ...] = ()
    lag: int | None = None
    uncommitted_partitions: int | None = None
    uncommitted_records: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One sentence, what to do next, and what is not known.

    Attributes:
        partitions: those of `topic` that are the cause, at most `NAMED_MAX`; empty: all alike, or
            not known which.
        as_of_ms: of the newest verdict; None without any.
        is_stale: a newer verdict is overdue.
    """

    cause: Cause
    severity: Severity
    text: str
    next_step: str = ""
    unknown: tuple[str, ...] = ()
    status: Status | None = None
    risk: Risk | None = None
    topic: str | None = None
    partitions: tuple[int, ...] = ()
    as_of_ms: int | None = None
    is_stale: bool = False
