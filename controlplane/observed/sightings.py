"""Since when something is not as it was left, and by whom: the app of drift brings itself
(`use_sightings`). It lies above the apps of topics and access, whose doors say it too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from controlplane.observed.readers import Reader

BY_OPERATION, BY_PRINCIPAL, UNKNOWN = "operation", "principal", "unknown"
AUTHORS: Final = (BY_OPERATION, BY_PRINCIPAL, UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drifted:
    """One difference, as its app has worked it out.

    Attributes:
        area, name, field: of the thing, as `drift.differences.Difference`.
        row: {desired, observed, operation_id, text, text_code, params} and both
            ways to mend it, {back, adopt} with `drift_sentences.problem_said` of each.
        as_of: when what it was compared with was read (ISO); null: it is being read just now.
    """

    area: str
    name: str
    field: str
    row: Mapping[str, Any]
    as_of: str | None


@dataclass(frozen=True, slots=True)
class Told:
    """Attributes:
    rows: in order of what was asked about, {equal_at, seen_at, changed_at, who}; None: an
        operation that is under way may be about to change it, and nothing is claimed.
    under_way: those operations.
    """

    rows: Sequence[Mapping[str, Any] | None]
    under_way: Sequence[str] = ()


class Sightings(Protocol):
    def __call__(self, reader: Reader, drifted: Sequence[Drifted]) -> Told:
        """In a fixed number of statements; principals are named to those who see the whole."""
        ...


_sightings: Sightings | None = None


def use_sightings(sightings: Sightings) -> None:
    global _sightings  # noqa: PLW0603 - one per process
    _sightings = sightings


def told(reader: Reader, drifted: Sequence[Drifted]) -> Told:
    if not drifted:
        return Told(())
    if _sightings is None:
        raise RuntimeError("no sightings: the app of drift brings them")
    return _sightings(reader, drifted)
