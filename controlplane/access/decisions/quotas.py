"""Quotas of clients: what may be bounded, and what a change comes to. Pure.

Every broker bounds by itself what reaches it, so a client of three brokers may use three times as
much.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from controlplane.gateway.types import QUOTA_CLIENT_ID, QUOTA_USER, QuotaEntity
from controlplane.operations.warnings import warning_of

PRODUCE, CONSUME = "producer_byte_rate", "consumer_byte_rate"
REQUESTS, MUTATIONS = "request_percentage", "controller_mutation_rate"
QUOTA_KEYS = (PRODUCE, CONSUME, REQUESTS, MUTATIONS)
"""Bytes a second twice, percent of one request thread, changes of partitions a second."""
UNBOUNDED: Mapping[str, float] = {
    PRODUCE: 2.0**53,
    CONSUME: 2.0**53,
    REQUESTS: 100_000.0,
    MUTATIONS: 1_000_000.0,
}
"""What the service's own users have of their own, once there are quotas that they would share."""
LOW_BYTES_PER_S = 10_240
"""Below it a client waits for seconds after each of its usual batches of 16 KiB."""


@dataclass(frozen=True, slots=True)
class Whom:
    """Of whom a quota is. A field that is not part of it is absent; None: all that have no own."""

    parts: QuotaEntity

    @property
    def hits_service(self) -> bool:
        """Whether the service's own users fall under it: they are not named, as nobody is."""
        return dict(self.parts).get(QUOTA_USER) is None

    @property
    def words(self) -> str:
        """`user app`, `client id etl of every user`: also the name of the lock."""
        names = dict(self.parts)
        has_user, has_client = QUOTA_USER in names, QUOTA_CLIENT_ID in names
        user, client = names.get(QUOTA_USER), names.get(QUOTA_CLIENT_ID)
        who = f"user {user}" if user is not None else "every user"
        if not has_client:
            return who
        what = f"client id {client}" if client is not None else "every client id"
        return f"{what} of {who}" if has_user else what

    @property
    def code(self) -> str:
        """`user`, `client` or `client-of-user`: which of a sentence's forms speaks of it."""
        return "-of-".join(_PARTS[kind] for kind, _ in reversed(self.parts))

    @property
    def named(self) -> dict[str, str | None]:
        """What that form takes; None: all that have no own."""
        return {_PARTS[kind]: name for kind, name in self.parts}


_PARTS: Final = {QUOTA_USER: "user", QUOTA_CLIENT_ID: "client"}


def whom(inputs: Mapping[str, str | None]) -> Whom:
    """Of a plan's inputs: `user` and `client_id`, each absent, a name, or None."""
    named = ((QUOTA_USER, "user"), (QUOTA_CLIENT_ID, "client_id"))
    return Whom(tuple((kind, inputs[name]) for kind, name in named if name in inputs))


def after_change(
    before: Mapping[str, float], changes: Mapping[str, float | None]
) -> dict[str, float]:
    """The quotas with the changes; None takes one away."""
    merged = {**before, **changes}
    return {key: float(value) for key, value in sorted(merged.items()) if value is not None}


def service_warning(*, is_managed: bool) -> dict[str, str]:
    """Of a quota that everybody falls under."""
    if is_managed:
        return warning_of("service-kept-out", "info")
    return warning_of("bounds-service")


def change_warnings(
    before: Mapping[str, float], after: Mapping[str, float]
) -> list[dict[str, Any]]:
    found = [warning_of("per-broker", "info")]
    tighter = [
        key
        for key in QUOTA_KEYS
        if key in after and (key not in before or after[key] < before[key])
    ]
    if tighter:
        found.append(warning_of("throttles", quotas=", ".join(tighter)))
    low = [key for key in (PRODUCE, CONSUME) if after.get(key, LOW_BYTES_PER_S) < LOW_BYTES_PER_S]
    if low:
        found.append(warning_of("very-low", "danger", quotas=", ".join(low)))
    lifted = [key for key in QUOTA_KEYS if key in before and key not in after]
    if lifted:
        found.append(warning_of("lifted", "info", quotas=", ".join(lifted)))
    return found
