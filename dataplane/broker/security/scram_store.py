"""SCRAM credentials: kept in ZooKeeper under `/config/users`, cached here, reread on change."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from dataplane.broker.metadata.change_notifications import ChangeListener, announce
from dataplane.cluster.znodes import (
    CONFIG,
    CONFIG_CHANGE_PREFIX,
    CONFIG_CHANGES,
    DEFAULT_ENTITY,
    config_path,
    decode_config,
    decode_config_change,
    desanitize,
    encode_config,
    encode_config_change,
    sanitize,
)
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.coordinator import (
    BadVersionError,
    ConnectionLossError,
    NodeExistsError,
    NoNodeError,
)
from dataplane.security.scram import ScramCredential, ScramMechanism, parse_bootstrap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator

_log = logging.getLogger(__name__)

USERS: Final = "users"
UPDATE_ATTEMPTS: Final = 20

Credentials = dict[ScramMechanism, ScramCredential]
Changes = dict[ScramMechanism, ScramCredential | None]
"""Per mechanism the new credential, or None to delete it."""


class ScramStore:
    """Credentials by user. A user's node also holds quotas: those are left as they are."""

    def __init__(self, coordinator: Coordinator, clock: Clock, bootstrap: str) -> None:
        """`bootstrap` is the text of `penstock.bootstrap.scram`: credentials to begin with."""
        self._coordinator = coordinator
        self._bootstrap_text = bootstrap
        self._users: dict[str, Credentials] = {}
        self._lock = asyncio.Lock()
        self._changes = ChangeListener(
            coordinator,
            clock,
            CONFIG_CHANGES,
            decode_config_change,
            self._on_changes,
            purges=False,
        )

    @property
    def change_retries(self) -> int:
        """Times that what others changed could not be read, and was tried again."""
        return self._changes.retries

    async def start(self) -> None:
        """Create what `penstock.bootstrap.scram` asks for, load every user, follow changes."""
        await self._bootstrap()
        try:
            names = await self._coordinator.children(f"{CONFIG}/{USERS}")
        except NoNodeError:
            names = []
        for name in names:
            if name != DEFAULT_ENTITY:
                await self._reload(desanitize(name))
        self._changes.start()

    async def stop(self) -> None:
        await self._changes.stop()

    async def credential(self, mechanism: ScramMechanism, username: str) -> ScramCredential | None:
        """What `username` logs in with. A user not known here yet is looked up in ZooKeeper."""
        known = self._users.get(username, {}).get(mechanism)
        if known is None:
            await self._reload(username)
            known = self._users.get(username, {}).get(mechanism)
        return known

    def all_users(self) -> Mapping[str, Credentials]:
        """Users that have a credential, as this broker knows them."""
        return self._users

    async def refresh(self, username: str) -> Credentials:
        """Read one user from ZooKeeper."""
        await self._reload(username)
        return self._users.get(username, {})

    async def alter(self, username: str, changes: Changes) -> None:
        """Set and delete credentials of one user, in force here at once.

        KafkaError(RESOURCE_NOT_FOUND) when a credential to delete does not exist.
        """
        coordinator = self._coordinator
        entity = sanitize(username)
        path = config_path(USERS, entity)
        for _ in range(UPDATE_ATTEMPTS):
            config, version = await self._read(username)
            updated = _apply(config, changes)
            try:
                if version is None:
                    await coordinator.create(path, encode_config(updated), make_parents=True)
                else:
                    await coordinator.set(path, encode_config(updated), version)
            except (BadVersionError, NodeExistsError, NoNodeError):
                continue  # somebody else changed the user: look again
            except ConnectionLossError:
                if (await self._read(username))[0] != updated:
                    continue
            break
        else:
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"user {username!r} is contended")
        change = encode_config_change(f"{USERS}/{entity}")
        await announce(coordinator, CONFIG_CHANGE_PREFIX, change)
        await self._reload(username)

    async def _bootstrap(self) -> None:
        """Only what is absent is created: a changed password is not set back at a restart."""
        wanted = parse_bootstrap(self._bootstrap_text)
        for (username, mechanism), credential in wanted.items():
            if mechanism not in await self.refresh(username):
                await self.alter(username, {mechanism: credential})

    async def _read(self, username: str) -> tuple[dict[str, str], int | None]:
        path = config_path(USERS, sanitize(username))
        try:
            data, stat = await self._coordinator.get(path)
        except NoNodeError:
            return {}, None
        return decode_config(data), stat.version

    async def _reload(self, username: str) -> None:
        async with self._lock:  # reads are applied in the order in which they were made
            config, _version = await self._read(username)
            credentials: Credentials = {}
            for mechanism in ScramMechanism:
                text = config.get(mechanism.sasl_name)
                if text is None:
                    continue
                try:
                    credentials[mechanism] = ScramCredential.from_text(text)
                except ValueError as error:
                    _log.warning("%s of user %r: %s", mechanism.sasl_name, username, error)
            if credentials:
                self._users[username] = credentials
            else:
                self._users.pop(username, None)

    async def _on_changes(self, entities: list[str]) -> None:
        for each in entities:
            kind, _, entity = each.partition("/")
            if kind == USERS and "/" not in entity and entity != DEFAULT_ENTITY:
                await self._reload(desanitize(entity))


def _apply(config: dict[str, str], changes: Changes) -> dict[str, str]:
    updated = dict(config)
    for mechanism, credential in changes.items():
        if credential is not None:
            updated[mechanism.sasl_name] = credential.to_text()
        elif updated.pop(mechanism.sasl_name, None) is None:
            raise KafkaError(
                ErrorCode.RESOURCE_NOT_FOUND,
                "Attempt to delete a user credential that does not exist",
            )
    return updated
