"""What one request may have the controller make and delete: partitions, by a bucket (KIP-599)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from dataplane.ports.clock import Clock
    from dataplane.quotas.accounts import Account
    from dataplane.quotas.token_bucket import TokenBucket


class MutationQuota:
    """For one request. Strict: what comes while the bucket is overdrawn is refused; the one that
    overdraws it is not. Otherwise, for versions that do not know the error, everything is done
    and the client has to wait. Without an account nothing is bounded.
    """

    def __init__(
        self, clock: Clock, account: Account[TokenBucket] | None, *, is_strict: bool
    ) -> None:
        self._clock = clock
        self._account = account
        self._is_strict = is_strict
        self._throttled_until_ms = 0

    def spend(self, partitions: int) -> None:
        """Raises KafkaError(THROTTLING_QUOTA_EXCEEDED): these may not be made or deleted now."""
        account = self._account
        if account is None:
            return
        now_ms = self._clock.monotonic_ms()
        bucket, rate = account.meter, account.bound
        wait_ms = bucket.throttle_ms(rate, now_ms) if self._is_strict else 0
        if not wait_ms:
            bucket.take(partitions, rate, now_ms)
            wait_ms = 0 if self._is_strict else bucket.throttle_ms(rate, now_ms)
        if wait_ms:
            self._throttled_until_ms = now_ms + wait_ms
            if self._is_strict:
                raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)

    def answered(self) -> int:
        """What is left of the wait, in ms, when the answer is made; counted."""
        account, now_ms = self._account, self._clock.monotonic_ms()
        wait_ms = max(0, self._throttled_until_ms - now_ms)
        if account is not None and wait_ms:
            account.note_throttle(wait_ms, now_ms)
        return wait_ms
