"""How many connections there may be, and how fast they may come (KIP-612).

A listener has bounds of its own beside the broker's. Those of the broker do not hold back the
listener that brokers use among themselves, where it is not the only one: clients must not be able
to keep brokers from each other. What comes too fast is made to wait, never longer than one sample:
where the broker's or the listener's rate is over, a connection is taken and looked at later; where
its address's own is, it is closed, and later than at once, or it would come back at once.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from dataplane.quotas.bounds import AddressBounds
from dataplane.quotas.rate_window import RateWindow

UNBOUNDED: Final = 2**31 - 1
ADDRESSES_MAX: Final = 10_000
"""Addresses whose rates are remembered; the longest unused is forgotten for a new one."""


class Verdict(NamedTuple):
    """About a new connection. Refused: it is to be closed after `wait_ms`; else not looked at
    before. `reason` is a label of metrics: what was over, or nothing.
    """

    is_admitted: bool
    wait_ms: int = 0
    reason: str = ""


ADMITTED: Final = Verdict(True)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Of a broker or of one listener: connections, and new ones a second."""

    connections: int = UNBOUNDED
    creation_rate: int = UNBOUNDED


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """All bounds of a broker. `protected` is the listener that the broker's own do not hold back,
    if there is one.
    """

    broker: Bounds = Bounds()
    listeners: Mapping[str, Bounds] = dataclasses.field(default_factory=dict)
    per_ip: int = UNBOUNDED
    per_ip_overrides: Mapping[str, int] = dataclasses.field(default_factory=dict)
    protected: str | None = None


class ConnectionQuotas:
    """Counts the connections of one broker. Times are monotonic, in ms."""

    def __init__(
        self,
        limits: Limits,
        addresses: AddressBounds | None = None,
        *,
        samples: int = 11,
        sample_ms: int = 1000,
    ) -> None:
        self.limits = limits
        self._addresses = addresses or AddressBounds()
        self._samples = samples
        self._sample_ms = sample_ms
        self._total = 0
        self._by_listener: Counter[str] = Counter()
        self._by_ip: Counter[str] = Counter()
        self._broker_rate = self._window()
        self._listener_rates: dict[str, RateWindow] = {}
        self._ip_rates: dict[str, RateWindow] = {}  # the longest unused first

    def open(self, listener: str, ip: str, now_ms: int) -> Verdict:
        """A connection has come. It counts, unless it is refused, until `close`."""
        verdict = self.arrive(listener, ip, now_ms)
        if verdict.is_admitted:
            self._count_in(listener, ip)
        return verdict

    def enter(self, listener: str, ip: str) -> Verdict:
        """What had arrived counts from now on until `close`, unless all places are taken now."""
        verdict = self._place_for(listener, ip)
        if verdict.is_admitted:
            self._count_in(listener, ip)
        return verdict

    def arrive(self, listener: str, ip: str, now_ms: int) -> Verdict:
        """A connection has come that is none yet, as TLS has to be agreed on; `enter` may follow.

        It counts for the rates, so that whoever comes too fast waits before that costs anything.
        """
        verdict = self._place_for(listener, ip)
        if not verdict.is_admitted:
            return verdict
        wait_ms = self._address_wait_ms(ip, now_ms)
        if wait_ms:
            return Verdict(False, wait_ms, "address rate")
        return self._count_rates(listener, now_ms)

    def _place_for(self, listener: str, ip: str) -> Verdict:
        limits = self.limits
        if self._by_listener[listener] >= limits.listeners.get(listener, Bounds()).connections:
            return Verdict(False, 0, "listener")
        if listener != limits.protected and self._total >= limits.broker.connections:
            return Verdict(False, 0, "broker")
        if self._by_ip[ip] >= limits.per_ip_overrides.get(ip, limits.per_ip):
            return Verdict(False, 0, "address")
        return ADMITTED

    def _count_in(self, listener: str, ip: str) -> None:
        self._total += 1
        self._by_listener[listener] += 1
        self._by_ip[ip] += 1

    def _count_rates(self, listener: str, now_ms: int) -> Verdict:
        limits = self.limits
        own = limits.listeners.get(listener, Bounds())
        own_rate = self._listener_rates.setdefault(listener, self._window())
        own_ms = self._count(own_rate, own.creation_rate, now_ms)
        broker_ms = 0
        if listener != limits.protected:
            broker_ms = self._count(self._broker_rate, limits.broker.creation_rate, now_ms)
        if max(own_ms, broker_ms):
            reason = "listener rate" if own_ms >= broker_ms else "broker rate"
            return Verdict(True, max(own_ms, broker_ms), reason)
        return ADMITTED

    def close(self, listener: str, ip: str) -> None:
        """A connection that was admitted is gone."""
        self._total -= 1
        self._by_listener[listener] -= 1
        self._by_ip[ip] -= 1
        if self._by_ip[ip] <= 0:
            del self._by_ip[ip]

    def creation_rate(self, listener: str, now_ms: int) -> float:
        """Connections that the listener has admitted, a second."""
        rate = self._listener_rates.get(listener)
        return 0.0 if rate is None else rate.measure(now_ms)[0]

    def _window(self) -> RateWindow:
        return RateWindow(samples=self._samples, sample_ms=self._sample_ms)

    def _count(self, rate: RateWindow, bound: float, now_ms: int) -> int:
        rate.record(1, now_ms)
        return self._wait_ms(rate, bound, now_ms)

    def _wait_ms(self, rate: RateWindow, bound: float, now_ms: int) -> int:
        if bound <= 0:
            return self._sample_ms
        return min(self._sample_ms, rate.throttle_ms(bound, now_ms))

    def _address_wait_ms(self, ip: str, now_ms: int) -> int:
        """What is refused for it does not count as having come."""
        bound = self._addresses.find(ip)
        if bound is None:
            return 0
        rate = self._ip_rates.pop(ip, None)
        if rate is None:
            rate = self._window()
            if len(self._ip_rates) >= ADDRESSES_MAX:
                del self._ip_rates[next(iter(self._ip_rates))]
        self._ip_rates[ip] = rate
        wait_ms = self._count(rate, bound, now_ms)
        if wait_ms:
            rate.record(-1, now_ms)
        return wait_ms
