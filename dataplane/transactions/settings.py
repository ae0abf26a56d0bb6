"""The configuration of a transaction coordinator, and what Kafka has no key for."""

from __future__ import annotations

import dataclasses
from typing import Final

COMPLETION_RETRY_MS: Final = 500
"""When a completed transaction's last record is tried again after the log refused it."""

EXPIRED_PER_ROUND_MAX: Final = 1_000
"""Transactional ids that one round of expiry forgets, so that it is no storm of tombstones."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TransactionSettings:
    """Kafka's `transaction*` keys; defaults are those of 3.9."""

    max_timeout_ms: int = 900_000
    id_expiration_ms: int = 604_800_000
    completion_retry_ms: int = COMPLETION_RETRY_MS
    expired_per_round_max: int = EXPIRED_PER_ROUND_MAX
