"""What clients may use of this broker, and what they have used: quotas as they are enforced.

Bounds follow ZooKeeper at once. What is used is counted for clients that have a bound, and no
other; `is_active` is all that a request of a broker without quotas looks at.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from dataplane.broker.quotas.metering import Metering
from dataplane.broker.quotas.mutation_quota import MutationQuota
from dataplane.quotas.accounts import Accounts
from dataplane.quotas.bounds import AddressBounds
from dataplane.quotas.entities import ABSENT, entity_at
from dataplane.quotas.overrides import (
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    quotas_in,
)
from dataplane.quotas.rate_window import RateWindow
from dataplane.quotas.token_bucket import TokenBucket

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.ports.clock import Clock

log = logging.getLogger(__name__)

CLIENT_KEYS: Final = (
    PRODUCER_BYTE_RATE,
    CONSUMER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    CONTROLLER_MUTATION_RATE,
)


class QuotaManager:
    """The quotas of one broker.

    `is_platforms_own` says of a user whether only quotas that name it may bound it.
    """

    def __init__(
        self,
        configs: ConfigStore,
        clock: Clock,
        is_platforms_own: Callable[[str], bool] = lambda _user: False,
    ) -> None:
        config = configs.broker_config
        self._configs = configs
        self._is_platforms_own = is_platforms_own
        self.clock = clock
        self.samples = config.get_int("quota.window.num")
        self.sample_ms = 1000 * config.get_int("quota.window.size.seconds")
        self.produce = Accounts(self._rate)
        self.fetch = Accounts(self._rate)
        self.request = Accounts(self._rate)
        burst_s = config.get_int("controller.quota.window.num") * config.get_int(
            "controller.quota.window.size.seconds"
        )
        self.mutation = Accounts(lambda: TokenBucket(burst_s=burst_s))
        self.addresses = AddressBounds()
        self.is_active = False
        """Whether anybody's bytes or request time is bounded."""
        self._listeners: list[Callable[[], None]] = []
        for entity_type in configs.entity_types():
            for node in configs.entities(entity_type):
                self._take(entity_type, node)
        configs.on_change(self._changed)

    def on_change(self, listener: Callable[[], None]) -> None:
        """`listener()` runs on the loop after bounds may have changed."""
        self._listeners.append(listener)

    def metering(self, user: str, client_id: str) -> Metering | None:
        """For one request of this client; None when nothing that it uses is bounded."""
        now_ms = self.clock.monotonic_ms()
        by_name = self._is_platforms_own(user)
        produce = self.produce.find(user, client_id, now_ms, by_name=by_name)
        fetch = self.fetch.find(user, client_id, now_ms, by_name=by_name)
        request = self.request.find(user, client_id, now_ms, by_name=by_name)
        if produce is None and fetch is None and request is None:
            return None
        return Metering(self.clock, (self.samples - 1) * self.sample_ms, produce, fetch, request)

    def mutation_quota(self, user: str, client_id: str, *, is_strict: bool) -> MutationQuota:
        """For one request to the controller."""
        account = self.mutation.find(
            user, client_id, self.clock.monotonic_ms(), by_name=self._is_platforms_own(user)
        )
        return MutationQuota(self.clock, account, is_strict=is_strict)

    def _rate(self) -> RateWindow:
        return RateWindow(samples=self.samples, sample_ms=self.sample_ms)

    def _changed(self, entity_type: str, node: str) -> None:
        if self._take(entity_type, node):
            for listener in self._listeners:
                listener()

    def _take(self, entity_type: str, node: str) -> bool:
        """Have the bounds of an entity as they are now; whether it is one that has bounds."""
        entity = entity_at(entity_type, node)
        if entity is None:
            return False
        quotas = quotas_in(entity, self._configs.overrides(entity_type, node))
        if entity.ip is not ABSENT:
            try:
                self.addresses.set(entity.ip, quotas.get(CONNECTION_CREATION_RATE))
            except ValueError as error:
                log.warning("a quota that another tool has set is passed over: %s", error)
            return True
        produce, fetch, request = self.produce, self.fetch, self.request
        tables = (produce.bounds, fetch.bounds, request.bounds, self.mutation.bounds)
        for key, bounds in zip(CLIENT_KEYS, tables, strict=True):
            bounds.set(entity, quotas.get(key))
        self.is_active = not all(accounts.bounds.is_empty for accounts in (produce, fetch, request))
        return True
