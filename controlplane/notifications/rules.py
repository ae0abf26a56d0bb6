"""Who is told what, what an outcome means, and when the next try is. Pure."""

import email.utils
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from controlplane.notifications.events import FIRING, RESOLVED, SEVERITIES, AlertEvent

ATTEMPTS_MAX = 16
"""Of one delivery, from when it was made or sent again by hand: over some 6 hours."""
AGE_MAX = timedelta(hours=24)
"""What was not delivered by then is of no use any more."""
FIRST_RETRY_S, RETRY_MAX_S = 5.0, 3_600.0
RETRY_AFTER_MAX_S = 3_600.0
"""The longest that a receiver's `Retry-After` is heeded."""
RETRIED_STATUSES = frozenset({408, 429})
"""Of 4xx; every 5xx is retried too."""

DELIVERED = "delivered"
TOO_OLD, TOO_MANY_ATTEMPTS = "too-old", "too-many-attempts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which events a destination wants; an empty collection is no limit."""

    min_severity: str
    rules: Collection[str] = ()
    clusters: Collection[str] = ()
    send_resolved: bool = True


def wants(filters: Filters, event: AlertEvent, *, was_told: bool) -> bool:
    """Whether the destination is told of this event.

    Whoever was told that an alert fires is also told how it goes on, though it is of a lower
    severity by then: an end that is held back would leave an incident open for ever.
    """
    if event.state == RESOLVED and not filters.send_resolved:
        return False
    if was_told and event.state != FIRING:
        return True
    return (
        SEVERITIES.index(event.severity) >= SEVERITIES.index(filters.min_severity)
        and (not filters.rules or event.rule in filters.rules)
        and (not filters.clusters or event.cluster_id in filters.clusters)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one attempt ended.

    Attributes:
        code: `delivered`, or of the failure; stable.
        text: for people; nothing of what the receiver said, and no secret.
        status: of the answer; None where there was none.
        retry_after_s: what the receiver asked for, unbounded.
    """

    is_delivered: bool
    code: str
    text: str = ""
    is_retriable: bool = False
    status: int | None = None
    retry_after_s: float | None = None


def outcome_of(status: int, retry_after_s: float | None) -> Outcome:
    """What an HTTP status says about a delivery."""
    if 200 <= status < 300:
        return Outcome(is_delivered=True, code=DELIVERED, status=status)
    if 300 <= status < 400:
        text = f"The answer is {status}: redirects are not followed."
        return Outcome(is_delivered=False, code="redirected", text=text, status=status)
    return Outcome(
        is_delivered=False,
        code=f"http-{status}",
        text=f"The answer is {status}.",
        is_retriable=status in RETRIED_STATUSES or status >= 500,
        status=status,
        retry_after_s=retry_after_s,
    )


def next_try_s(
    outcome: Outcome, *, tries: int, age: timedelta, entropy: Callable[[], float]
) -> tuple[float | None, str]:
    """(seconds until the next try, ""), or (None, why there is none).

    Exponential, the second half of each wait by chance, so that receivers that come back are not
    met by everybody at once.

    Args:
        outcome: of an attempt that failed.
        tries: made so far, this one among them.
        age: since the delivery was made, or sent again by hand.
        entropy: a number from 0 to below 1.
    """
    if not outcome.is_retriable:
        return None, outcome.code
    if tries >= ATTEMPTS_MAX:
        return None, TOO_MANY_ATTEMPTS
    # The exponent is bounded, so that no number of tries makes a number too large to multiply.
    whole_s = min(FIRST_RETRY_S * 2.0 ** min(tries - 1, 20), RETRY_MAX_S)
    wait_s = whole_s / 2 + whole_s / 2 * entropy()
    if outcome.retry_after_s is not None:
        wait_s = max(wait_s, min(outcome.retry_after_s, RETRY_AFTER_MAX_S))
    if age + timedelta(seconds=wait_s) > AGE_MAX:
        return None, TOO_OLD
    return wait_s, ""


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """Seconds that `Retry-After` asks for (RFC 9110, 10.2.3); None when it says none."""
    text = (header or "").strip()
    if text.isascii() and text.isdigit() and len(text) <= 10:
        return float(text)
    try:
        at = email.utils.parsedate_to_datetime(text)
    except (ValueError, IndexError, OverflowError):
        return None
    if at.tzinfo is None:
        return None
    return max(0.0, (at - now).total_seconds())
