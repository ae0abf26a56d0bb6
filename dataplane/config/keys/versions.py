"""Kafka's releases as its version keys spell them: `3.9-IV0`, or short, `3.9` or `3.9.1`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.config.release import NEWEST_PROTOCOL, OLDEST_PROTOCOL

if TYPE_CHECKING:
    from dataplane.config.key import Value

_INTERNAL_VERSIONS: Final = {
    "0.10.0": 2,
    "0.10.1": 3,
    "0.10.2": 1,
    "0.11.0": 3,
    "1.0": 1,
    "1.1": 1,
    "2.0": 2,
    "2.1": 3,
    "2.2": 2,
    "2.3": 2,
    "2.4": 2,
    "2.5": 1,
    "2.6": 1,
    "2.7": 3,
    "2.8": 2,
    "3.0": 2,
    "3.1": 1,
    "3.2": 1,
    "3.3": 4,
    "3.4": 1,
    "3.5": 3,
    "3.6": 3,
    "3.7": 5,
    "3.8": 1,
    "3.9": 1,
    "4.0": 2,
}
"""How many internal versions a release had: `-IV0` and on."""
_OLDEST: Final = ("0.8.0", "0.8.1", "0.8.2", "0.9.0")
"""Releases before there were internal versions."""

VERSIONS: Final = (
    *_OLDEST,
    *(
        f"{release}-IV{number}"
        for release, count in _INTERNAL_VERSIONS.items()
        for number in range(count)
    ),
)
"""Every version in full, the oldest first."""


def check_version(value: Value) -> None:
    """Raises ValueError for what is no version of Kafka up to 4.0."""
    if not isinstance(value, str) or full_version(value) is None:
        raise ValueError("Value must be a version of Kafka, such as 3.0-IV1 or 3.9")


def check_spoken(value: Value) -> None:
    """Raises ValueError for a version that brokers of this release do not speak to each other."""
    check_version(value)
    found = full_version(str(value)) or ""
    if not _rank(OLDEST_PROTOCOL) <= _rank(found) <= _rank(NEWEST_PROTOCOL):
        raise ValueError(
            f"Value must be from {OLDEST_PROTOCOL} to {NEWEST_PROTOCOL}, which this release speaks"
        )


def _rank(version: str) -> int:
    return VERSIONS.index(version)


def full_version(text: str) -> str | None:
    """The internal version that a text means, the last one of a short release; None if none."""
    parts = text.split(".")
    release = ".".join(parts[: 3 if text.startswith("0.") else 2])
    if release in VERSIONS:
        return release
    count = _INTERNAL_VERSIONS.get(release)
    return None if count is None else f"{release}-IV{count - 1}"
