"""One request of a client that has a quota: what it uses, and how long its client has to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.quotas.accounts import INT32_MAX, charge

if TYPE_CHECKING:
    from dataplane.ports.clock import Clock
    from dataplane.quotas.accounts import Account
    from dataplane.quotas.rate_window import RateWindow

    Used = Account[RateWindow] | None

PERCENT_OF_A_SECOND = 100.0


class Metering:
    """`throttle_ms` is what the answer says and how long nothing more is read; 0 is not at all.

    Time counts from the next request on, as what is spent on this one is known after its answer
    has been made; and a wait for time is never longer than one sample, as in Kafka.
    """

    __slots__ = (
        "_clock",
        "_fetch",
        "_is_exempt",
        "_produce",
        "_reason",
        "_request",
        "throttle_ms",
        "window_ms",
    )

    def __init__(
        self, clock: Clock, window_ms: int, produce: Used, fetch: Used, request: Used
    ) -> None:
        self._clock = clock
        self._produce = produce
        self._fetch = fetch
        self._request = request
        self._reason: Used = None
        self._is_exempt = False
        self.window_ms = window_ms
        self.throttle_ms = 0

    def exempt(self) -> None:
        """It is a broker's: nothing is counted, nobody waits."""
        self._is_exempt = True
        self._reason = None
        self.throttle_ms = 0

    def spent_before(self) -> None:
        """Wait for the time that requests before this one took, if it was too much."""
        account = self._request
        if account is not None and not self._is_exempt:
            wait_ms = account.meter.throttle_ms(account.bound, self._clock.monotonic_ms())
            self._wait(account, min(wait_ms, account.meter.sample_ms))

    def spend(self, spent_s: float) -> None:
        """Count the time that this request has taken of the broker."""
        account = self._request
        if account is not None and not self._is_exempt:
            now_ms = self._clock.monotonic_ms()
            account.meter.record(spent_s * PERCENT_OF_A_SECOND, now_ms)

    def produced(self, size_bytes: int) -> None:
        """A Produce of this size has come. It is served, whatever the rate."""
        account = self._produce
        if account is not None:
            self._wait(account, charge(account, size_bytes, self._clock.monotonic_ms()))

    @property
    def fetch_bytes_max(self) -> int:
        """More than this in one answer would be over the bound whatever was fetched before."""
        account = self._fetch
        if account is None:
            return INT32_MAX
        return min(INT32_MAX, int(account.bound * self.window_ms / 1000))

    def fetched(self, size_bytes: int) -> bool:
        """Whether an answer of this size may be sent; if not it is not counted.

        Nothing may be sent where the client has to wait for another reason, as in Kafka.
        """
        account = self._fetch
        if account is None or self.throttle_ms:
            return not self.throttle_ms
        now_ms = self._clock.monotonic_ms()
        wait_ms = charge(account, size_bytes, now_ms)
        if not wait_ms:
            return True
        account.meter.record(-size_bytes, now_ms)
        self._wait(account, wait_ms)
        return False

    def answered(self) -> int:
        """Count the wait that begins now. Returns it."""
        if self.throttle_ms and self._reason is not None:
            now_ms = self._clock.monotonic_ms()
            self._reason.note_throttle(self.throttle_ms, now_ms)
        return self.throttle_ms

    def _wait(self, account: Account[RateWindow], wait_ms: int) -> None:
        """The longest of the waits counts."""
        if wait_ms > self.throttle_ms:
            self.throttle_ms = wait_ms
            self._reason = account
