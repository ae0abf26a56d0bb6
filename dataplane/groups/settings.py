"""The configuration of a group coordinator, and the bounds that Kafka has no key for."""

from __future__ import annotations

import dataclasses
import enum
from typing import Final, NamedTuple

NEW_MEMBER_JOIN_TIMEOUT_MS: Final = 300_000
"""How long a first JoinGroup may wait: such a member has no id yet and cannot send heartbeats."""

PENDING_MEMBERS_MAX: Final = 10_000
"""Ids per group that were handed out (MEMBER_ID_REQUIRED) and not used yet."""


class MigrationPolicy(enum.Enum):
    """Values of `group.consumer.migration.policy`."""

    DISABLED = "disabled"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    BIDIRECTIONAL = "bidirectional"

    @property
    def may_upgrade(self) -> bool:
        return self in (MigrationPolicy.UPGRADE, MigrationPolicy.BIDIRECTIONAL)

    @property
    def may_downgrade(self) -> bool:
        return self in (MigrationPolicy.DOWNGRADE, MigrationPolicy.BIDIRECTIONAL)


class ConsumerTimings(NamedTuple):
    """What a group may have of its own: Kafka's `consumer.session.timeout.ms` and the like."""

    session_timeout_ms: int
    heartbeat_interval_ms: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """Kafka's `group.*` and `offset*` keys; defaults are those of 3.9, but that members of both
    protocols are served together: so the migration policy is Kafka 4's.
    """

    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    initial_rebalance_delay_ms: int = 3_000
    max_size: int = 2**31 - 1
    pending_members_max: int = PENDING_MEMBERS_MAX
    consumer_session_timeout_ms: int = 45_000
    consumer_heartbeat_interval_ms: int = 5_000
    consumer_max_size: int = 2**31 - 1
    consumer_assignors: tuple[str, ...] = ("uniform", "range")
    consumer_regex_refresh_interval_ms: int = 600_000
    migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    offset_metadata_max_bytes: int = 4_096
    offsets_retention_ms: int = 7 * 24 * 3_600_000

    @property
    def consumer_timings(self) -> ConsumerTimings:
        """Those of groups that have none of their own."""
        return ConsumerTimings(
            self.consumer_session_timeout_ms, self.consumer_heartbeat_interval_ms
        )
