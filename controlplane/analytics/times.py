"""Instants as the tables hold them and as answers write them."""

from __future__ import annotations

from datetime import UTC, datetime


def iso_ms(ms: int) -> str:
    at = datetime.fromtimestamp(ms / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def ms_of(at: datetime) -> int:
    return int(at.timestamp() * 1000)
