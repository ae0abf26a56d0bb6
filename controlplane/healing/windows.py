"""Maintenance windows: when in a week something may be done by itself, in a time zone. Pure.

Without any window it may be done at any time. A window begins on a weekday at a time of the zone's
clock and lasts so many minutes of real time, so that it is as long on a day on which the clock is
put forward or back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MINUTES_MIN, MINUTES_MAX = 15, 7 * 24 * 60
WINDOWS_MAX = 21


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """`begins` is of the zone's clock; `minutes` of real time."""

    day: str
    begins: time
    minutes: int


def window_of(row: Mapping[str, Any]) -> Window:
    """As rows keep it: `{"day", "begins": "HH:MM", "minutes"}`."""
    return Window(day=row["day"], begins=time.fromisoformat(row["begins"]), minutes=row["minutes"])


def is_open(windows: Iterable[Window], zone: str, now: datetime) -> bool:
    found = list(windows)
    return not found or any(
        begins <= now < begins + timedelta(minutes=window.minutes)
        for window in found
        for begins in _beginnings(window, zone, now)
    )


def opens_at(windows: Iterable[Window], zone: str, now: datetime) -> datetime | None:
    """When the next one opens; null where one is open, or there is none."""
    found = list(windows)
    if is_open(found, zone, now):
        return None
    return min(
        (begins for window in found for begins in _beginnings(window, zone, now) if begins > now),
        default=None,
    )


def _beginnings(window: Window, zone: str, now: datetime) -> list[datetime]:
    """In the weeks around now, in UTC."""
    local = now.astimezone(ZoneInfo(zone)).date()
    monday = local - timedelta(days=local.weekday())
    day = DAYS.index(window.day)
    return [
        datetime.combine(
            monday + timedelta(days=day + 7 * week), window.begins, ZoneInfo(zone)
        ).astimezone(UTC)
        for week in (-1, 0, 1, 2)
    ]
