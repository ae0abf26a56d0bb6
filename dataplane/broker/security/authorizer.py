"""Who may do what: ACLs kept in ZooKeeper as Kafka's AclAuthorizer does, decided upon in memory.

Any broker takes changes: it writes with a version check, has the change in force at once, and
notifies the others by a change node. With `authorizer.class.name` empty everything is allowed.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Final

from dataplane.broker.metadata.change_notifications import ChangeListener, announce
from dataplane.broker.security.scram_store import ScramStore
from dataplane.broker.security.token_store import TokenStore
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.coordinator import (
    BadVersionError,
    ConnectionLossError,
    CoordinatorError,
    NodeExistsError,
    NoNodeError,
)
from dataplane.security.acl import AclBinding, PatternType, ResourcePattern
from dataplane.security.acl_index import AclIndex
from dataplane.security.acl_nodes import (
    CHANGES,
    ROOTS,
    STORED_TYPES,
    change_path_prefix,
    decode_change,
    decode_entries,
    encode_change,
    encode_entries,
    pattern_path,
    type_path,
)
from dataplane.security.principal import Principal, parse_super_users

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataplane.config import BrokerConfig
    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator
    from dataplane.ports.entropy import Entropy
    from dataplane.security.acl import AclEntry, AclFilter, AclOperation, ResourceType

_log = logging.getLogger(__name__)

UPDATE_ATTEMPTS: Final = 20
DECOY_SECRET_BYTES: Final = 32


class Authorizer:
    """ACLs, in `scram` the credentials, in `tokens` the delegation tokens.

    The brokers' own user is a super user.
    """

    def __init__(
        self, coordinator: Coordinator, clock: Clock, entropy: Entropy, config: BrokerConfig
    ) -> None:
        self._coordinator = coordinator
        self._clock = clock
        self.is_enabled = config.is_authorizer_enabled
        self._is_tenants = config.get_bool("penstock.tenant.configs.only")
        super_users = parse_super_users(config.get_str("super.users"))
        own_name = config.get_str("penstock.inter.broker.username")
        if own_name:
            super_users |= {Principal.user(own_name)}
        self.index = AclIndex(
            super_users=super_users,
            allow_if_no_acl_found=config.get_bool("allow.everyone.if.no.acl.found"),
            # Who rules the ACLs of a managed cluster is its tenant, who is no broker of it.
            peers_by_acl=not self._is_tenants,
        )
        self.scram = ScramStore(coordinator, clock, config.get_str("penstock.bootstrap.scram"))
        self.tokens = TokenStore(coordinator, clock, entropy, config)
        self.decoy_secret = entropy.token_bytes(DECOY_SECRET_BYTES)
        self._lock = asyncio.Lock()
        self._listeners: list[ChangeListener[ResourcePattern]] = []

    async def start(self) -> None:
        """Load credentials and ACLs, then follow changes."""
        await self.scram.start()
        await self.tokens.start()
        if not self.is_enabled:
            return
        await self._create_paths()
        for pattern_type in ROOTS:
            await self._load_all(pattern_type)
            listener = ChangeListener(
                self._coordinator,
                self._clock,
                CHANGES[pattern_type],
                partial(decode_change, pattern_type),
                self._on_changes,
            )
            listener.start()
            self._listeners.append(listener)

    async def stop(self) -> None:
        for listener in self._listeners:
            await listener.stop()
        await self.tokens.stop()
        await self.scram.stop()

    @property
    def change_retries(self) -> int:
        """Times that ACLs which others changed could not be read, and were tried again."""
        return sum(listener.retries for listener in self._listeners)

    # deciding

    def authorize(
        self,
        principal: Principal,
        host: str,
        operation: AclOperation,
        resource_type: ResourceType,
        name: str,
    ) -> bool:
        return not self.is_enabled or self.index.authorize(
            principal, host, operation, resource_type, name
        )

    def is_super_user(self, principal: Principal) -> bool:
        """Of `super.users`, or the brokers' own; everybody where there is no authorizer."""
        return not self.is_enabled or self.index.is_super_user(principal)

    def is_platforms_own(self, user: str) -> bool:
        """Whether this is a super user on a cluster of tenants, who govern only what is theirs."""
        return (
            self.is_enabled and self._is_tenants and self.index.is_super_user(Principal.user(user))
        )

    def authorize_any(
        self, principal: Principal, host: str, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whether any resource of the type may be used so."""
        return not self.is_enabled or self.index.authorize_any(
            principal, host, operation, resource_type
        )

    # governing

    def find(self, wanted: AclFilter) -> list[AclBinding]:
        """KafkaError(SECURITY_DISABLED) when there is no authorizer."""
        self._require_enabled()
        return self.index.find(wanted)

    async def create(self, pattern: ResourcePattern, entries: Iterable[AclEntry]) -> None:
        """Add entries to a pattern's list; in force here when this returns. KafkaError."""
        self._require_enabled()
        added = frozenset(entries)
        await self._update(pattern, lambda before: before | added)

    async def delete(self, pattern: ResourcePattern, entries: Iterable[AclEntry]) -> None:
        """Remove entries from a pattern's list; out of force here when this returns. KafkaError."""
        self._require_enabled()
        removed = frozenset(entries)
        await self._update(pattern, lambda before: before - removed)

    def _require_enabled(self) -> None:
        if not self.is_enabled:
            raise KafkaError(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")

    async def _update(
        self,
        pattern: ResourcePattern,
        change: Callable[[frozenset[AclEntry]], frozenset[AclEntry]],
    ) -> None:
        try:
            async with self._lock:
                before, after = await self._write(pattern, change)
                self.index.replace(pattern, after)
            if before != after:
                prefix = change_path_prefix(pattern.pattern_type)
                await announce(self._coordinator, prefix, encode_change(pattern))
        except CoordinatorError as error:
            _log.warning("ACLs of %s not changed: %r", pattern, error)
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"ZooKeeper: {error!r}") from error

    async def _write(
        self,
        pattern: ResourcePattern,
        change: Callable[[frozenset[AclEntry]], frozenset[AclEntry]],
    ) -> tuple[frozenset[AclEntry], frozenset[AclEntry]]:
        """Read, change, write back unless somebody was quicker; then again."""
        coordinator = self._coordinator
        path = pattern_path(pattern)
        for _ in range(UPDATE_ATTEMPTS):
            before, version = await self._read(pattern)
            after = change(before)
            if after == before:
                return before, after
            try:
                if version is None:
                    await coordinator.create(path, encode_entries(after), make_parents=True)
                elif after:
                    await coordinator.set(path, encode_entries(after), version)
                else:
                    await coordinator.delete(path, version)
            except (BadVersionError, NodeExistsError, NoNodeError):
                continue
            except ConnectionLossError:
                # It may have happened: then reading again shows that nothing is left to change,
                # but the others still have to be notified.
                if (await self._read(pattern))[0] != after:
                    continue
            return before, after
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"the ACLs of {pattern} are contended")

    # loading

    async def _create_paths(self) -> None:
        for pattern_type in ROOTS:
            paths = [CHANGES[pattern_type]]
            paths += [type_path(pattern_type, kind) for kind in STORED_TYPES]
            for path in paths:
                try:
                    await self._coordinator.create(path, make_parents=True)
                except NodeExistsError:
                    continue

    async def _load_all(self, pattern_type: PatternType) -> None:
        for kind in STORED_TYPES:
            names = await self._coordinator.children(type_path(pattern_type, kind))
            for name in names:
                await self._reload(ResourcePattern(kind, name, pattern_type))

    async def _read(self, pattern: ResourcePattern) -> tuple[frozenset[AclEntry], int | None]:
        try:
            data, stat = await self._coordinator.get(pattern_path(pattern))
        except NoNodeError:
            return frozenset(), None
        return decode_entries(data), stat.version

    async def _reload(self, pattern: ResourcePattern) -> None:
        async with self._lock:  # so that an older reading never overwrites a newer change
            entries, _version = await self._read(pattern)
            self.index.replace(pattern, entries)

    async def _on_changes(self, patterns: list[ResourcePattern]) -> None:
        for pattern in patterns:
            await self._reload(pattern)
