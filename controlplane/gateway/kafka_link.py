"""One admin connection: opened on first use, every call bounded, errors made ours.

A call runs in a small thread pool so that its deadline holds whatever the library does. After
a retriable error the client is dropped: the next call starts from fresh metadata, so a dead
controller or coordinator in the library's caches is never asked twice.
"""

import concurrent.futures
import contextlib
import copy
import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from kafka.admin import KafkaAdminClient
from kafka.errors import BrokerResponseError, KafkaError, UnsupportedVersionError, for_code

from controlplane.gateway.authentication import way_in
from controlplane.gateway.client_settings import client_settings
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import TIMED_OUT, UNREACHABLE, GatewayError, timed_out, unreachable
from controlplane.gateway.patience import bounded
from controlplane.gateway.understood import NONSENSE

R = TypeVar("R")
CALLS_AT_ONCE, READS_OF_ANY_AT_ONCE = 4, 8
"""Of those that only certain brokers answer, and of those that any does: a broker that hangs holds
the former until their deadline, and the latter never wait for them.
"""
RETRY_LEFT_S = 0.5
"""A read is asked once more only while there is time for an answer."""
HEDGE_AFTER_S = 3.0
"""Whom a hung broker keeps waiting asks another one then: what any of them may answer."""
ASKED_MAX = 3
"""How often the same is asked at a time; a cluster may be slow because it has much to do."""
OWN_TIMEOUT = "Request timed out after"
"""How the library says that nobody answered in time, in an error that brokers also answer with."""
NOT_COORDINATOR = "NOT_COORDINATOR"
"""A group is with another broker now; a client that is made anew asks who."""
READS_MAX, READS_OF_ONE_MAX = 4, 2
"""How often a read is asked that any broker may answer, or only one."""
_CODES = re.compile(r"\[Error -?\d+\] \w+(?:: )?|(?:(?<=: )|^)[A-Z]\w*Error: ")
# Where the library spells an error in its own way.
KAFKAS_NAMES = {
    "UNKNOWN": "UNKNOWN_SERVER_ERROR",
    "NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER",
    "MESSAGE_SIZE_TOO_LARGE": "MESSAGE_TOO_LARGE",
    "INVALID_TOPIC": "INVALID_TOPIC_EXCEPTION",
    "INVALID_REPLICATION_ASSIGNMENT": "INVALID_REPLICA_ASSIGNMENT",
}


class KafkaLink:
    def __init__(self, spec: ConnectionSpec) -> None:
        self._spec = spec
        self._lock = threading.Lock()
        self._client: Any = None
        self._is_closed = False
        self._users: dict[int, int] = {}
        self._pool = concurrent.futures.ThreadPoolExecutor(CALLS_AT_ONCE, "gateway")
        self._any = concurrent.futures.ThreadPoolExecutor(READS_OF_ANY_AT_ONCE, "gateway-any")

    def call(
        self,
        work: Callable[[Any], R],
        *,
        what: str,
        write: bool = False,
        timeout_s: float = 0.0,
        is_particular: bool = False,
        is_hedged: bool = False,
    ) -> R:
        """`work(admin client)` within the deadline.

        With `is_particular` it asks one broker by name: what that one does not answer says nothing
        of the client, which goes on with the others. `is_hedged` is for a read that any broker
        answers: one that hangs keeps its connection up, and would be waited for until the deadline,
        so after each `HEDGE_AFTER_S` the same is asked beside it; the client takes another broker,
        as the first has a request under way (Dean, Barroso: The Tail at Scale, 2013).

        A read whose broker went away, or coordinates no more, is asked again, up to `READS_MAX`
        times, each time by a client that learns again who is there: until the others know that the
        broker is gone, it may be chosen once more. One that any broker answers is asked twice by
        the same client, which passes by a broker that it could not reach just now, as a new one
        does not. A write is not asked again: it may have been done.

        Raises:
            GatewayError: refused, unreachable, or timed out (unknown when `write`).
        """
        limit_s = bounded(timeout_s or self._spec.timeout_s)
        ends_s = time.monotonic() + limit_s
        left_s = limit_s
        tries = 1 if write else READS_OF_ONE_MAX if is_particular else READS_MAX
        for again in reversed(range(tries)):
            try:
                return self._once(
                    work,
                    what=what,
                    write=write,
                    limit_s=left_s,
                    is_hedged=is_hedged,
                    # The last one is never kept: whoever asks next begins anew.
                    keeps_unreached=is_particular or (is_hedged and again % 2 == 1),
                    keeps_always=is_particular,
                )
            except GatewayError as error:
                left_s = ends_s - time.monotonic()
                is_moved = error.code in {UNREACHABLE, NOT_COORDINATOR}
                if not again or not is_moved or left_s < RETRY_LEFT_S:
                    raise
        raise AssertionError("the last try returns or raises")

    def _once(
        self,
        work: Callable[[Any], R],
        *,
        what: str,
        write: bool,
        limit_s: float,
        is_hedged: bool,
        keeps_unreached: bool,
        keeps_always: bool,
    ) -> R:
        """Raises GatewayError, as `call`. An error drops the client, unless `keeps_always`; with
        `keeps_unreached` it stays where a broker could not be reached.
        """
        drop = _keep if keeps_always else self._drop
        try:
            if is_hedged:
                return self._hedged(work, limit_s)
            return _result(self._pool.submit(self._work, work), limit_s)
        except concurrent.futures.TimeoutError as error:
            drop()
            raise timed_out(f"{what}: no answer in {limit_s:.0f} s", write=write) from error
        except GatewayError as error:
            if error.retriable:
                drop()
            raise
        except UnsupportedVersionError as error:
            raise GatewayError("UNSUPPORTED_VERSION", f"{what}: {error}") from error
        except BrokerResponseError as error:
            found = refusal(type(error), str(error))
            found.unknown_outcome &= write
            if found.retriable:
                drop()
            raise found from error
        except (KafkaError, OSError, RuntimeError) as error:
            if not keeps_unreached:
                drop()
            found = unreachable(f"{what}: {error}")
            found.unknown_outcome = write
            raise found from error
        except NONSENSE:
            drop()  # what else comes by it may be out of step
            raise

    def _hedged(self, work: Callable[[Any], R], limit_s: float) -> R:
        """The first answer of those that are asked one after the other, or the last error.

        Raises:
            concurrent.futures.TimeoutError: none answered.
        """
        ends_s = time.monotonic() + limit_s
        hedge_s = min(HEDGE_AFTER_S, limit_s / ASKED_MAX)
        asked: list[concurrent.futures.Future[R]] = []
        try:
            while (left_s := ends_s - time.monotonic()) > 0:
                asked.append(self._any.submit(self._work, work))
                is_last = len(asked) == ASKED_MAX
                ended = _answered(asked, left_s if is_last else min(hedge_s, left_s))
                if ended is not None:
                    return ended.result()
            raise concurrent.futures.TimeoutError
        finally:
            for each in asked:
                each.cancel()

    def at(self, broker: int, timeout_s: float) -> "BrokerLink":
        return BrokerLink(self, broker, timeout_s)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
        self._drop()
        for pool in (self._pool, self._any):
            pool.shutdown(wait=False, cancel_futures=True)

    def _work(self, work: Callable[[Any], R]) -> R:
        client = self._connected()
        try:
            return work(client)
        finally:
            self._leave(client)

    def _connected(self) -> Any:
        """The client, made here when there is none; whoever has it leaves it again.

        Nobody waits for another's connecting: that may hang until its deadline.
        """
        with self._lock:
            client = self._client
            if client is not None:
                self._enter(client)
        return client or self._adopted(self._connect())

    def _enter(self, client: Any) -> None:
        """The caller holds the lock."""
        self._users[id(client)] = self._users.get(id(client), 0) + 1

    def _leave(self, client: Any) -> None:
        """The last of those who use a client that was dropped closes it."""
        with self._lock:
            left = self._users[id(client)] - 1
            if left:
                self._users[id(client)] = left
                return
            del self._users[id(client)]
            is_dropped = client is not self._client
        if is_dropped:
            _close_apart(client)

    def _adopted(self, made: Any) -> Any:
        """This new client, or the one that somebody else has made meanwhile."""
        with self._lock:
            if self._client is None and not self._is_closed:
                self._client = made
            kept = self._client
            if kept is not None:
                self._enter(kept)
        if kept is not made:
            _close_apart(made)
        if kept is None:
            raise unreachable("the connection was closed")
        return kept

    def _connect(self) -> Any:
        spec = self._spec
        address = way_in(spec)
        timeout_ms = int(spec.timeout_s * 1000)
        try:
            return KafkaAdminClient(
                **client_settings(spec, address),
                client_id="penstock-control",
                request_timeout_ms=timeout_ms,
                bootstrap_timeout_ms=timeout_ms,
                reconnect_backoff_max_ms=500,
                retry_backoff_ms=50,
            )
        except ValueError as error:  # the library's word for an address that is none
            raise unreachable(f"{','.join(spec.bootstrap_servers)!r}: {error}") from error

    def _drop(self) -> None:
        """Whoever asks next makes a new client; who is asking by this one may still be answered."""
        with self._lock:
            client, self._client = self._client, None
            is_used = client is not None and id(client) in self._users
        if client is not None and not is_used:
            _close_apart(client)


def _keep() -> None:
    """The client stays."""


def _result(asked: concurrent.futures.Future[R], limit_s: float) -> R:
    """What nobody waits for any more and has not begun is not asked."""
    try:
        return asked.result(limit_s)
    finally:
        asked.cancel()


def _answered(
    asked: Sequence[concurrent.futures.Future[R]], wait_s: float
) -> concurrent.futures.Future[R] | None:
    """One that has an answer, or when all have failed the last to fail; None: not yet."""
    ended = None
    with contextlib.suppress(concurrent.futures.TimeoutError):
        for ended in concurrent.futures.as_completed(asked, wait_s):
            if ended.exception() is None:
                return ended
        return ended
    return None


class BrokerLink:
    """The same connection for questions to one broker."""

    def __init__(self, link: KafkaLink, broker: int, timeout_s: float) -> None:
        self._link = link
        self._broker = broker
        self._timeout_s = timeout_s

    def call(
        self,
        work: Callable[[Any], R],
        *,
        what: str,
        write: bool = False,
        timeout_s: float = 0.0,
        is_hedged: bool = False,  # noqa: ARG002 - nobody else is asked
    ) -> R:
        """As `KafkaLink.call`."""
        return self._link.call(
            lambda admin: work(_at_broker(admin, self._broker)),
            what=f"{what} at broker {self._broker}",
            write=write,
            timeout_s=timeout_s or self._timeout_s,
            is_particular=True,
        )

    def at(self, broker: int, timeout_s: float) -> "BrokerLink":
        return self._link.at(broker, timeout_s)

    def close(self) -> None:
        """The connection is the cluster's."""


class _OneBroker:
    """The library's connections, with requests that name no broker going to this one."""

    def __init__(self, manager: Any, broker: int) -> None:
        self._connections = manager
        self._broker = broker

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connections, name)

    def send(self, request: Any, node_id: Any = None, request_timeout_ms: Any = None) -> Any:
        target = self._broker if node_id is None else node_id
        return self._connections.send(request, target, request_timeout_ms)


def _at_broker(admin: Any, broker: int) -> Any:
    """The admin client, asking one broker. The library offers that for no describing call."""
    pinned = copy.copy(admin)
    pinned._manager = _OneBroker(admin._manager, broker)  # noqa: SLF001 - it picks the broker there
    return pinned


def _close_apart(client: Any) -> None:
    threading.Thread(target=_close_quietly, args=(client,), daemon=True).start()


def _close_quietly(client: Any) -> None:
    with contextlib.suppress(Exception):
        client.close()


def check(code: int, detail: str | None, what: str) -> None:
    """Raise unless `code` is NONE."""
    if code:
        raise refusal(for_code(code), f"{what}: {detail or ''}".rstrip(": "))


def without_codes(text: str) -> str:
    """A refusal's words without what the library puts before them: `[Error 40] INVALID_CONFIG:`."""
    return _CODES.sub("", text).strip().rstrip(": ")


def refusal(error_type: Any, detail: str) -> GatewayError:
    """Kafka's error class as ours, with Kafka's own name."""
    name = str(getattr(error_type, "message", "") or error_type.__name__)
    request_timed_out = name == "REQUEST_TIMED_OUT"
    is_own = request_timed_out and OWN_TIMEOUT in detail
    return GatewayError(
        TIMED_OUT if is_own else KAFKAS_NAMES.get(name, name),
        without_codes(detail),
        retriable=bool(getattr(error_type, "retriable", False)) or request_timed_out,
        unknown_outcome=request_timed_out,
    )
