"""Holding leases by renewal: one thread of this process renews every lease that it holds.

A lease is short, so that a dead worker's row is soon free, and is renewed at each third of its
length, so that a slow one keeps it. The thread has a database connection of its own: what a
holder does meanwhile, in a transaction or waiting for a broker, delays no renewal.

A holder asks `HeldLease.check` before whatever must not be done by two. How long a lease lasts is
reckoned from before the statement that took it, by a clock that goes on while a process or its
machine sleeps: here it never lasts longer than in the database.

A transaction that locks the row and takes long would keep the thread waiting, and with it all other
leases of the process. Before one the holder calls `HeldLease.rest`: the lock is its hold from then
on, and others claim such rows with `skips_locked`.
"""

import logging
import threading
import time
from collections import defaultdict
from datetime import timedelta
from typing import Any, TypeVar

from django.db import Error, connection
from django.db.models import QuerySet

from controlplane.common import leases
from controlplane.common.metrics import (
    LEASE_RENEWALS,
    LEASES_LOST,
    LEASES_REFUSED,
)
from controlplane.common.models import Leased
from controlplane.common.once_a_minute import OnceAMinute
from controlplane.postgres.patience import waiting_at_most

log = logging.getLogger(__name__)
SAID = OnceAMinute(None)
Row = TypeVar("Row", bound=Leased)
HELD_MAX = 256
"""Leases of one process; one more is not taken, and another process may have it."""
RENEWALS_PER_LENGTH = 3
RETRY_S = 0.25
"""How soon a renewal that failed is tried again."""


class LeaseLostError(Exception):
    """Another worker has the row or may have it: nothing more may be written."""


def elapsed_s() -> float:
    """Seconds that also count while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class HeldLease:
    """A lease of this process. Made by `LeaseKeeper.claim`; `drop` ends the renewing of it."""

    def __init__(
        self, keeper: "LeaseKeeper", model: type[Leased], pk: Any, token: str, length: timedelta
    ) -> None:
        self._keeper = keeper
        self.model, self.pk, self.token, self.length = model, pk, token, length
        self.held_until_s = 0.0
        self.is_lost = False

    @property
    def third_s(self) -> float:
        return self.length.total_seconds() / RENEWALS_PER_LENGTH

    def check(self) -> None:
        """Pass while it is held and stays so for a third of its length.

        One that is nearer to its end is renewed first; that takes a length at most.

        Raises:
            LeaseLostError: it is another worker's, or could not be renewed in time.
        """
        self._keeper.check(self)

    def drop(self) -> None:
        """Renew it no more. The row is not touched: give it back, or let the lease run out."""
        self._keeper.drop(self)

    def rest(self) -> None:
        """Renew it no more, and wait until no renewal is under way: the row may be locked then.

        The wait is a length at most. Whether it is still held says the row's token, once locked.
        """
        self._keeper.rest(self)


class LeaseKeeper:
    """The leases of a process. Thread-safe.

    Without `in_background` there is no thread: whoever asks `check` or `renew` renews.
    """

    def __init__(self, *, held_max: int = HELD_MAX, in_background: bool = True) -> None:
        self._held_max = held_max
        self._in_background = in_background
        self._changed = threading.Condition()
        self._held: set[HeldLease] = set()
        self._being_renewed: set[HeldLease] = set()
        self._asked = self._is_stopped = False
        self._thread: threading.Thread | None = None

    def claim(
        self,
        rows: QuerySet[Row],
        pk: Any,
        length: timedelta,
        *,
        skips_locked: bool = False,
        **also: Any,
    ) -> HeldLease | None:
        """Take the row with this key, as `leases.claim` does, and keep it until it is dropped.

        None also when this process holds so many that it may hold none more.
        """
        with self._changed:
            if len(self._held) >= self._held_max:
                LEASES_REFUSED.inc()
                return None
        began_s = elapsed_s()
        token = leases.claim(rows.filter(pk=pk), length, skips_locked=skips_locked, **also)
        if token is None:
            return None
        lease = HeldLease(self, rows.model, pk, token, length)
        lease.held_until_s = began_s + length.total_seconds()
        with self._changed:
            self._held.add(lease)
            if self._in_background and self._thread is None:
                self._thread = threading.Thread(target=self._run, name="leases", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return lease

    def drop(self, lease: HeldLease) -> None:
        with self._changed:
            self._held.discard(lease)

    def rest(self, lease: HeldLease) -> None:
        """See `HeldLease.rest`."""
        with self._changed:
            self._held.discard(lease)
            self._changed.wait_for(
                lambda: lease not in self._being_renewed, timeout=lease.length.total_seconds()
            )

    def check(self, lease: HeldLease) -> None:
        """See `HeldLease.check`."""
        if self._is_good(lease):
            return
        if self._in_background:
            with self._changed:
                self._asked = True
                self._changed.notify_all()
                self._changed.wait_for(
                    lambda: lease.is_lost or self._is_good(lease),
                    timeout=lease.length.total_seconds(),
                )
        else:
            self.renew([lease])
        if lease.is_lost:
            raise LeaseLostError(f"{lease.pk} is another worker's")
        if not self._is_good(lease):
            raise LeaseLostError(f"the lease of {lease.pk} could not be renewed in time")

    @staticmethod
    def _is_good(lease: HeldLease) -> bool:
        return not lease.is_lost and lease.held_until_s - elapsed_s() >= lease.third_s

    def renew(self, which: list[HeldLease]) -> bool:
        """Renew these by one statement for each kind of row. False when the database refused."""
        groups: dict[tuple[type[Leased], timedelta], list[HeldLease]] = defaultdict(list)
        for lease in which:
            groups[lease.model, lease.length].append(lease)
        results = [self._renew_alike(*alike, group) for alike, group in groups.items()]
        return all(results)

    def _renew_alike(self, model: type[Leased], length: timedelta, group: list[HeldLease]) -> bool:
        rows: QuerySet[Leased] = QuerySet(model).filter(pk__in=[lease.pk for lease in group])
        began_s = elapsed_s()
        try:
            # An answer that takes longer is of no use: the lease is over then.
            with waiting_at_most(length.total_seconds()):
                kept = leases.renew(rows, {lease.token for lease in group}, length)
        except Error as error:
            if SAID.may("not-renewed"):  # it is tried again four times a second
                log.warning("%s leases are not renewed: %s", len(group), error)
            LEASE_RENEWALS.inc(len(group), of="failed")
            return False
        LEASE_RENEWALS.inc(len(kept), of="renewed")
        with self._changed:
            for lease in group:
                if lease.token in kept:
                    lease.held_until_s = began_s + length.total_seconds()
                elif lease in self._held:  # else it was given back meanwhile
                    lease.is_lost = True
                    LEASES_LOST.inc()
                    log.warning("%s is another worker's now", lease.pk)
            self._changed.notify_all()
        return True

    def stop(self) -> None:
        """End the thread; what is held runs out."""
        with self._changed:
            self._held.clear()
            self._is_stopped = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    # -- the thread ---------------------------------------------------------------------------
    def _run(self) -> None:
        wait_s: float | None = None
        while True:
            due = self._await_due(wait_s)
            if due is None:
                connection.close()
                return
            try:
                is_answered = self.renew(due)
            except Exception:
                # Without this thread every operation of the process would stop.
                log.exception("leases were not renewed")
                is_answered = False
            with self._changed:
                self._being_renewed.clear()
                self._changed.notify_all()
            if not is_answered:
                connection.close()
            wait_s = None if is_answered else RETRY_S

    def _await_due(self, wait_s: float | None) -> list[HeldLease] | None:
        """Those to be renewed, after `wait_s` or a third of a lease; None when it is to stop."""
        with self._changed:
            while not self._alive() and not self._is_stopped:
                connection.close()  # it may be hours until the next operation
                self._changed.wait()
            if wait_s is None:
                wait_s = min((lease.third_s for lease in self._alive()), default=0.0)
            self._changed.wait_for(lambda: self._asked or self._is_stopped, timeout=wait_s)
            if self._is_stopped:
                return None
            was_asked, self._asked = self._asked, False
            # Most steps are over before a third: nothing is to be done for those that began now.
            due = [
                lease
                for lease in self._alive()
                if was_asked
                or lease.held_until_s - elapsed_s() <= lease.third_s * (RENEWALS_PER_LENGTH - 0.5)
            ]
            self._being_renewed.update(due)
            return due

    def _alive(self) -> list[HeldLease]:
        return [lease for lease in self._held if not lease.is_lost]


_keeper = LeaseKeeper()


def keeper() -> LeaseKeeper:
    """The one of this process."""
    return _keeper


def use_keeper(made: LeaseKeeper | None) -> None:
    """Tests bring their own."""
    global _keeper  # noqa: PLW0603 - one per process
    _keeper.stop()
    _keeper = made or LeaseKeeper()
