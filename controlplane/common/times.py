"""Moments as text: ISO 8601 in UTC with a `Z`, wherever one leaves the service."""

from datetime import UTC, datetime
from typing import overload


@overload
def iso(at: datetime) -> str: ...
@overload
def iso(at: None) -> None: ...
@overload
def iso(at: datetime | None) -> str | None: ...
def iso(at: datetime | None) -> str | None:
    """`2026-01-31T12:00:00.123456Z`; None stays None. A moment without a zone is a mistake."""
    if at is None:
        return None
    if at.tzinfo is None:
        raise ValueError("a moment without a time zone")
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def iso_of_ms(at_ms: int | None) -> str | None:
    """`iso` of milliseconds since 1970; None stays None."""
    return None if at_ms is None else iso(datetime.fromtimestamp(at_ms / 1000, UTC))
