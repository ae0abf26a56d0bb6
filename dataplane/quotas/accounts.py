"""What clients have used of their quotas of one key: an account for each who shares a bound.

Accounts are made when somebody uses a bound and forgotten an hour later, as in Kafka; there are
never more than `ACCOUNTS_MAX`, because a client may name itself as it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar

from dataplane.quotas.bounds import Bounds, Holder
from dataplane.quotas.rate_window import RateWindow

ACCOUNTS_MAX: Final = 10_000
FORGOTTEN_MS: Final = 60 * 60 * 1000
INT32_MAX: Final = 2**31 - 1

MeterT = TypeVar("MeterT")


class Tally:
    """What the accounts of one key count together."""

    def __init__(self) -> None:
        self.throttles = 0


class Account(Generic[MeterT]):
    """One holder's use. `bound` is as of the last look."""

    __slots__ = ("_tally", "bound", "holder", "meter", "throttled_until_ms", "used_ms")

    def __init__(self, holder: Holder, meter: MeterT, tally: Tally) -> None:
        self._tally = tally
        self.holder = holder
        self.meter = meter
        self.bound = 0.0
        self.used_ms = 0
        self.throttled_until_ms = 0

    def note_throttle(self, throttle_ms: int, now_ms: int) -> None:
        """Its user has to wait from now on."""
        self._tally.throttles += 1
        self.throttled_until_ms = max(self.throttled_until_ms, now_ms + throttle_ms)


class Accounts(Generic[MeterT]):
    """The accounts of one key."""

    def __init__(self, make_meter: Callable[[], MeterT]) -> None:
        self.bounds = Bounds()
        self.forgotten_early = 0
        self.tally = Tally()
        self._make_meter = make_meter
        self._accounts: dict[Holder, Account[MeterT]] = {}  # in the order of their last use

    def __len__(self) -> int:
        return len(self._accounts)

    def latest(self) -> Iterator[Account[MeterT]]:
        """All accounts, those first that were used last."""
        return reversed(self._accounts.values())

    def find(
        self, user: str, client_id: str, now_ms: int, *, by_name: bool = False
    ) -> Account[MeterT] | None:
        """The account that this client uses now; None when nothing bounds it, or by its name."""
        found = self.bounds.find(user, client_id, by_name=by_name)
        if found is None:
            return None
        holder, bound = found
        accounts = self._accounts
        account = accounts.pop(holder, None)
        if account is None:
            self._make_space(now_ms)
            account = Account(holder, self._make_meter(), self.tally)
        accounts[holder] = account
        account.bound = bound
        account.used_ms = now_ms
        return account

    def _make_space(self, now_ms: int) -> None:
        while self._accounts:
            oldest = next(iter(self._accounts.values()))
            is_old = now_ms - oldest.used_ms >= FORGOTTEN_MS
            if not is_old and len(self._accounts) < ACCOUNTS_MAX:
                return
            self.forgotten_early += not is_old
            del self._accounts[oldest.holder]


def charge(account: Account[RateWindow], amount: float, now_ms: int) -> int:
    """Count what was used; how many ms its user has to wait for it."""
    account.meter.record(amount, now_ms)
    return min(INT32_MAX, account.meter.throttle_ms(account.bound, now_ms))
