"""Maintenance windows: by the zone's clock, as long on every day, over the week's end."""

from datetime import UTC, datetime, time, timedelta

import pytest

from controlplane.healing.windows import Window, is_open, opens_at

NIGHT = Window(day="sunday", begins=time(23), minutes=180)


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-11-22T21:59", False),
        ("2026-11-22T22:00", True),
        ("2026-11-23T00:59", True),  # Monday, in the window of Sunday
        ("2026-11-23T01:00", False),
    ],
)
def test_in_the_zone_and_over_the_weeks_end(now, expected):
    assert is_open([NIGHT], "Europe/Berlin", at(now)) is expected


def test_without_windows_it_is_always_open():
    assert is_open([], "UTC", at("2026-11-22T03:00"))
    assert opens_at([], "UTC", at("2026-11-22T03:00")) is None


def test_when_the_next_one_opens():
    assert opens_at([NIGHT], "Europe/Berlin", at("2026-11-23T01:00")) == at("2026-11-29T22:00")
    assert opens_at([NIGHT], "Europe/Berlin", at("2026-11-22T22:30")) is None


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_as_long_where_the_clock_is_put_forward_or_back(day):
    window = Window(day="sunday", begins=time(1), minutes=180)
    began = at(f"{day}T01:00").replace(tzinfo=None)
    minutes = [
        at(f"{(began + timedelta(minutes=each)).isoformat()}") for each in range(-180, 420, 15)
    ]
    opened = [now for now in minutes if is_open([window], "Europe/Berlin", now)]
    assert len(opened) * 15 == 180
    assert opened[-1] - opened[0] == timedelta(minutes=165)
