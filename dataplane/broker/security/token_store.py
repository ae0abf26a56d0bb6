"""Delegation tokens: kept in ZooKeeper, known to every broker, gone when they have expired.

Without `delegation.token.secret.key` there are none. Any broker takes requests: version-checked
write, in force here at once, a sequential change node for the others.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from typing import TYPE_CHECKING, Final

from dataplane.broker.metadata.change_notifications import ChangeListener, announce
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.coordinator import (
    BadVersionError,
    ConnectionLossError,
    CoordinatorError,
    NodeExistsError,
    NoNodeError,
)
from dataplane.security.delegation_tokens import (
    CHANGE_PREFIX,
    CHANGES,
    TOKENS,
    TOKENS_MAX,
    DelegationToken,
    Lifetimes,
    credentials_of,
    decode_token,
    encode_token,
    secret_of,
)
from dataplane.security.sasl_exchange import Identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataplane.config import BrokerConfig
    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator
    from dataplane.ports.entropy import Entropy
    from dataplane.security.principal import Principal
    from dataplane.security.scram import ScramCredential, ScramMechanism

_log = logging.getLogger(__name__)

UPDATE_ATTEMPTS: Final = 20
SALT_BYTES: Final = 24


class TokenStore:
    """Every token of the cluster, by id and by secret."""

    def __init__(
        self, coordinator: Coordinator, clock: Clock, entropy: Entropy, config: BrokerConfig
    ) -> None:
        self._coordinator = coordinator
        self._clock = clock
        self._entropy = entropy
        key = config.get_str("delegation.token.secret.key")
        self._key = key or config.get_str("delegation.token.master.key")
        self._lifetimes = Lifetimes(
            config.get_int("delegation.token.max.lifetime.ms"),
            config.get_int("delegation.token.expiry.time.ms"),
        )
        self._check_s = config.get_int("delegation.token.expiry.check.interval.ms") / 1000
        self._tokens: dict[str, DelegationToken] = {}
        self._ids: dict[bytes, str] = {}
        self._credentials: dict[str, dict[ScramMechanism, ScramCredential]] = {}
        self._lock = asyncio.Lock()
        self._changes = ChangeListener(coordinator, clock, CHANGES, bytes.decode, self._on_changes)
        self._expiry: asyncio.Task[None] | None = None

    @property
    def is_enabled(self) -> bool:
        return bool(self._key)

    @property
    def change_retries(self) -> int:
        """Times that what others changed could not be read, and was tried again."""
        return self._changes.retries

    async def start(self) -> None:
        """Load every token, then follow changes."""
        if not self.is_enabled:
            return
        for path in (TOKENS, CHANGES):
            try:
                await self._coordinator.create(path, make_parents=True)
            except NodeExistsError:
                continue
        for token_id in await self._coordinator.children(TOKENS):
            await self._reload(token_id)
        self._changes.start()
        self._expiry = asyncio.get_running_loop().create_task(self._expire_all())

    async def stop(self) -> None:
        await self._changes.stop()
        if self._expiry is not None:
            self._expiry.cancel()
            await asyncio.gather(self._expiry, return_exceptions=True)

    # asking

    def live(self, token_id: str) -> DelegationToken | None:
        """A token that can be used now."""
        token = self._tokens.get(token_id)
        return None if token is None or token.is_expired(self._clock.realtime_ms()) else token

    async def login(
        self, mechanism: ScramMechanism, token_id: str
    ) -> tuple[ScramCredential, Identity] | None:
        """What a login by the token is checked against, and who it makes the client: the owner,
        until the token expires. A token not known here is looked up in ZooKeeper.
        """
        if not self.is_enabled or not _is_id(token_id):
            return None
        if token_id not in self._tokens:
            await self._reload(token_id)
        token = self.live(token_id)
        if token is None:
            return None
        found = self._credentials.get(token_id)
        if found is None:
            # Not for each token at the start: most are never used at this broker.
            salt = self._entropy.token_bytes(SALT_BYTES)
            found = self._credentials[token_id] = credentials_of(self.secret(token_id), salt)
        ends_ms = min(token.expires_ms, token.ends_ms)
        return found[mechanism], Identity(token.owner.name, ends_ms, by_token=True)

    def all_live(self) -> Iterable[DelegationToken]:
        now_ms = self._clock.realtime_ms()
        return [token for token in self._tokens.values() if not token.is_expired(now_ms)]

    def id_of(self, secret: bytes) -> str | None:
        """The token that has this secret, expired or not, if it is known here."""
        return self._ids.get(hmac.digest(self._key.encode(), secret, "sha256"))

    def secret(self, token_id: str) -> bytes:
        return secret_of(token_id, self._key)

    # changing

    async def create(
        self,
        owner: Principal,
        requester: Principal,
        renewers: tuple[Principal, ...],
        lifetime_ms: int,
    ) -> DelegationToken:
        """A new token, in force here when this returns. KafkaError."""
        if len(self._tokens) >= TOKENS_MAX:
            raise KafkaError(
                ErrorCode.POLICY_VIOLATION, f"a cluster has at most {TOKENS_MAX} tokens"
            )
        now_ms = self._clock.realtime_ms()
        expires_ms, ends_ms = self._lifetimes.of_new(now_ms, lifetime_ms)
        token_id = self._entropy.token_bytes(16).hex()
        token = DelegationToken(token_id, owner, requester, renewers, now_ms, expires_ms, ends_ms)
        try:
            await self._coordinator.create(f"{TOKENS}/{token_id}", encode_token(token))
            self._keep(token)
            await announce(self._coordinator, CHANGE_PREFIX, token_id.encode())
        except CoordinatorError as error:
            # It may be there: nobody has its secret then, and it expires.
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"ZooKeeper: {error!r}") from error
        return token

    async def renew(self, secret: bytes, principal: Principal, period_ms: int) -> int:
        """When the token expires now. KafkaError."""
        now_ms = self._clock.realtime_ms()
        changed = await self._alter(
            secret, principal, lambda token: self._lifetimes.renewed(token, now_ms, period_ms)
        )
        return changed.expires_ms

    async def expire(self, secret: bytes, principal: Principal, period_ms: int) -> int:
        """When the token expires now; a negative period ends it at once. KafkaError."""
        now_ms = self._clock.realtime_ms()
        if period_ms >= 0:
            return await self.renew(secret, principal, period_ms)
        await self._alter(secret, principal, lambda _token: None)
        return now_ms

    async def _alter(
        self,
        secret: bytes,
        principal: Principal,
        change: Callable[[DelegationToken], DelegationToken | None],
    ) -> DelegationToken:
        """Read, change, write back unless somebody was quicker; None removes the token."""
        token_id = self._id_of(secret)
        try:
            for _ in range(UPDATE_ATTEMPTS):
                token, version = await self._read(token_id)
                self._check(token, principal)
                changed = change(token)
                path = f"{TOKENS}/{token_id}"
                try:
                    if changed is None:
                        await self._coordinator.delete(path, version)
                    else:
                        await self._coordinator.set(path, encode_token(changed), version)
                except (BadVersionError, NoNodeError, ConnectionLossError):
                    continue  # changed by somebody, perhaps by us: look again
                await self._reload(token_id)
                await announce(self._coordinator, CHANGE_PREFIX, token_id.encode())
                return changed or token
        except CoordinatorError as error:
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"ZooKeeper: {error!r}") from error
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, "the token is contended")

    def _id_of(self, secret: bytes) -> str:
        token_id = self.id_of(secret)
        if token_id is None:
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
        return token_id

    def _check(self, token: DelegationToken, principal: Principal) -> None:
        if not token.may_be_renewed_by(principal):
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
        if token.is_expired(self._clock.realtime_ms()):
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_EXPIRED)

    # keeping

    def _keep(self, token: DelegationToken) -> None:
        self._tokens[token.token_id] = token
        # By a digest: how long a look-up takes says nothing about secrets that are alike.
        digest = hmac.digest(self._key.encode(), self.secret(token.token_id), "sha256")
        self._ids[digest] = token.token_id

    def _forget(self, token_id: str) -> None:
        if self._tokens.pop(token_id, None) is not None:
            digest = hmac.digest(self._key.encode(), self.secret(token_id), "sha256")
            self._ids.pop(digest, None)
            self._credentials.pop(token_id, None)

    async def _read(self, token_id: str) -> tuple[DelegationToken, int]:
        try:
            data, stat = await self._coordinator.get(f"{TOKENS}/{token_id}")
        except NoNodeError as error:
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND) from error
        return decode_token(data), stat.version

    async def _reload(self, token_id: str) -> None:
        async with self._lock:  # readings are applied in the order in which they were made
            try:
                token, _version = await self._read(token_id)
            except KafkaError:
                self._forget(token_id)
            except ValueError as error:
                _log.warning("token %r: %s", token_id, error)
                self._forget(token_id)
            else:
                self._keep(token)

    async def _on_changes(self, token_ids: list[str]) -> None:
        for token_id in filter(_is_id, token_ids):
            await self._reload(token_id)

    async def _expire_all(self) -> None:
        """Remove what has expired. Every broker does; who comes second finds nothing."""
        while True:
            await asyncio.sleep(self._check_s)
            now_ms = self._clock.realtime_ms()
            for token in [each for each in self._tokens.values() if each.is_expired(now_ms)]:
                try:
                    await self._remove_expired(token.token_id)
                except CoordinatorError as error:
                    _log.warning("expired token %s not removed: %r", token.token_id, error)

    async def _remove_expired(self, token_id: str) -> None:
        """Unless it was renewed by another broker meanwhile."""
        try:
            token, version = await self._read(token_id)
        except KafkaError:
            self._forget(token_id)
            return
        if token.is_expired(self._clock.realtime_ms()):
            try:
                await self._coordinator.delete(f"{TOKENS}/{token_id}", version)
                await announce(self._coordinator, CHANGE_PREFIX, token_id.encode())
            except (BadVersionError, NoNodeError):
                pass
        await self._reload(token_id)


def _is_id(text: str) -> bool:
    """Whether it can be the name of one node; Kafka's ids are base64 of a UUID."""
    return 0 < len(text) <= 64 and text.isascii() and text.isprintable() and "/" not in text
