"""The words that gold uses for how a group does, by rank, and how much attention each is worth."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    """How much a status is worth somebody's attention, from the least to the most."""

    OK = "ok"
    UNKNOWN = "unknown"
    RECOVERING = "recovering"
    WARNING = "warning"
    DANGER = "danger"


class Status(StrEnum):
    """How a group does on a topic, from the best to the worst harm.

    Of all that hold the worst is the status, and the worst topic speaks for its group.
    """

    CAUGHT_UP = "CAUGHT_UP"
    NO_COMMIT = "NO_COMMIT"
    UNKNOWN = "UNKNOWN"
    CATCHING_UP = "CATCHING_UP"
    NOT_COMMITTING = "NOT_COMMITTING"
    LAGGING = "LAGGING"
    REWOUND = "REWOUND"
    FALLING_BEHIND = "FALLING_BEHIND"
    STALLED = "STALLED"
    STOPPED = "STOPPED"
    DATA_LOST = "DATA_LOST"


class Reason(StrEnum):
    """What is true of a group beside its status, and explains it."""

    PARTIAL_COMMIT = "PARTIAL_COMMIT"
    REWOUND = "REWOUND"


class Trend(StrEnum):
    """Where a group's lag is heading."""

    GROWING = "growing"
    SHRINKING = "shrinking"
    STEADY = "steady"
    UNKNOWN = "unknown"


class Method(StrEnum):
    """How a time was found; anything but the first three leaves it null."""

    CAUGHT_UP = "caught_up"
    EXACT = "exact"
    INTERPOLATED = "interpolated"
    OUT_OF_HISTORY = "out_of_history"
    NO_COMMIT = "no_commit"


class Risk(StrEnum):
    """What retention does to a group's unread records, from the best to the worst."""

    SAFE = "SAFE"
    UNKNOWN = "UNKNOWN"
    WATCH = "WATCH"
    AT_RISK = "AT_RISK"
    LOSING = "LOSING"


STATUS_SEVERITY: Final[Mapping[Status, Severity]] = {
    Status.CAUGHT_UP: Severity.OK,
    Status.NO_COMMIT: Severity.UNKNOWN,
    Status.UNKNOWN: Severity.UNKNOWN,
    Status.CATCHING_UP: Severity.RECOVERING,
    Status.NOT_COMMITTING: Severity.WARNING,
    Status.LAGGING: Severity.WARNING,
    Status.REWOUND: Severity.WARNING,
    Status.FALLING_BEHIND: Severity.WARNING,
    Status.STALLED: Severity.DANGER,
    Status.STOPPED: Severity.DANGER,
    Status.DATA_LOST: Severity.DANGER,
}
RISK_SEVERITY: Final[Mapping[Risk, Severity]] = {
    Risk.SAFE: Severity.OK,
    Risk.UNKNOWN: Severity.UNKNOWN,
    Risk.WATCH: Severity.WARNING,
    Risk.AT_RISK: Severity.DANGER,
    Risk.LOSING: Severity.DANGER,
}


def rank(value: Status | Risk) -> int:
    """How bad it is: 0 is the best."""
    return list(type(value)).index(value)
