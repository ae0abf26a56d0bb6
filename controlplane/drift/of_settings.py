"""Settings of all brokers: what operations have left of each key, against what each broker goes by.
Pure.

A key that brokers take while they run is wanted as the default of all of them; one that they read
when they start as the cluster's configuration has it. What no operation has set has no desired
value. What a broker does not say, or hides, is not known, and nothing is claimed of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from controlplane.drift.differences import SETTING, Difference, way
from controlplane.observed.drift_sentences import difference_said, problem_said

KIND: Final = "cluster.configure"
RESTART: Final = "cluster.restart"
DYNAMIC: Final = "dynamic"
OF_ALL, OF_ONE = "DYNAMIC_DEFAULT_BROKER_CONFIG", "DYNAMIC_BROKER_CONFIG"
BY_RATES: Final = frozenset(
    {"leader.replication.throttled.rate", "follower.replication.throttled.rate"}
)
"""That moves set on single brokers, and take away again: no settings of anybody."""
DIFFER: Final = "values-differ"
OF_START: Final = "set-at-start"
NAMED_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """A verified `cluster.configure`; `changes` as its diff has them."""

    id: str
    at: datetime
    changes: Iterable[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """`by_all`: the dynamic default, null: none; `by_start`: what a broker reads when it starts."""

    by_all: str | None
    by_start: str | None
    operation_id: str | None
    at: datetime | None

    @property
    def value(self) -> str | None:
        return self.by_start if self.by_all is None else self.by_all


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A key at one broker; without a row of its own the broker has the default."""

    value: str | None
    source: str
    hidden: bool = False


Brokers = Mapping[int, Mapping[str, Seen]]
"""What each broker that answered has of the keys that it was asked for."""


def desired_settings(
    operations: Iterable[Configured],
    *,
    written: Mapping[str, str],
    made_by: str | None,
    made_at: datetime | None,
) -> dict[str, Wanted]:
    """By key, of operations oldest first.

    `written` is what this service writes into the brokers' files of a tenant's choice; nothing of
    brokers that others run. `made_by` and `made_at` are of the operation that made the cluster.
    """
    found = {
        key: Wanted(by_all=None, by_start=value, operation_id=made_by, at=made_at)
        for key, value in written.items()
        if key not in BY_RATES
    }
    for operation in operations:
        for row in operation.changes:
            key = row["key"]
            if key not in BY_RATES:
                found[key] = Wanted(
                    by_all=row["after"] if row["way"] == DYNAMIC else None,
                    by_start=written.get(key),
                    operation_id=operation.id,
                    at=operation.at,
                )
    return found


def settings_drift(wanted: Mapping[str, Wanted], seen: Brokers) -> list[Difference]:
    """Of the brokers that answered."""
    found = []
    for key, each in sorted(wanted.items()):
        has = {broker: entries.get(key) for broker, entries in seen.items()}
        has = {broker: entry for broker, entry in has.items() if entry is None or not entry.hidden}
        if has and any(not _is_as_wanted(each, entry) for entry in has.values()):
            found.append(_difference(key, each, has))
    return found


def _is_as_wanted(wanted: Wanted, entry: Seen | None) -> bool:
    is_dynamic = entry is not None and entry.source in {OF_ALL, OF_ONE}
    if wanted.by_all is not None:
        return is_dynamic and entry is not None and _alike(entry.value, wanted.by_all)
    if wanted.by_start is not None:
        return entry is not None and _alike(entry.value, wanted.by_start)
    return not is_dynamic


def _alike(one: str | None, other: str | None) -> bool:
    """`True` and `true`, `1.0` and `1` are the same setting."""
    if one is None or other is None:
        return one == other
    if one.strip().lower() == other.strip().lower():
        return True
    try:
        return float(one) == float(other)
    except ValueError:
        return False


def _difference(key: str, wanted: Wanted, has: Mapping[int, Seen | None]) -> Difference:
    values = {broker: None if entry is None else entry.value for broker, entry in has.items()}
    one = len(set(values.values())) == 1
    now = next(iter(values.values())) if one else _by_value(values)
    own = sorted(b for b, entry in has.items() if entry is not None and entry.source == OF_ONE)
    is_taken_running = wanted.by_all is not None or any(
        entry is not None and entry.source in {OF_ALL, OF_ONE} for entry in has.values()
    )
    return Difference(
        area=SETTING,
        name=key,
        field="",
        desired=wanted.value,
        observed=now,
        operation_id=wanted.operation_id,
        **_said(key, now or None, wanted.value, own),
        back=_back(key, wanted, own=bool(own), running=is_taken_running),
        adopt=way(KIND, config={key: _default_of(has)}, adopt=True)
        if is_taken_running and one and not own
        else None,
        **problem_said("adopt", _why_not_adopted(running=is_taken_running, one=one and not own)),
    )


def _said(key: str, now: str | None, left: str | None, own: list[int]) -> dict[str, Any]:
    if not own:
        return difference_said("setting", key=key, observed=now, desired=left)
    return difference_said(
        "setting/own",
        key=key,
        observed=now,
        desired=left,
        brokers=", ".join(map(str, own[:NAMED_MAX])),
        more=len(own[NAMED_MAX:]),
    )


def _back(key: str, wanted: Wanted, *, own: bool, running: bool) -> dict[str, Any]:
    if not running:
        return way(RESTART)
    if own:
        return way(KIND, config={key: wanted.by_all}, remove_own=True)
    return way(KIND, config={key: wanted.by_all})


def _default_of(has: Mapping[int, Seen | None]) -> str | None:
    """The dynamic default that all of them show; None: there is none."""
    entry = next(iter(has.values()))
    return entry.value if entry is not None and entry.source == OF_ALL else None


def _why_not_adopted(*, running: bool, one: bool) -> str | None:
    if not running:
        return OF_START
    return None if one else DIFFER


def _by_value(values: Mapping[int, str | None]) -> str:
    brokers: dict[str | None, list[int]] = {}
    for broker, value in sorted(values.items()):
        brokers.setdefault(value, []).append(broker)
    return "; ".join(
        f"{'not set' if value is None else value} on broker {_listed(of)}"
        for value, of in sorted(brokers.items(), key=lambda item: item[1])
    )


def _listed(brokers: list[int]) -> str:
    more = len(brokers) - NAMED_MAX
    return ", ".join(map(str, brokers[:NAMED_MAX])) + (f" and {more} more" if more > 0 else "")
