"""A client whose requests go over the connection that there is at that moment, or not at all."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import ConnectionLoss
from kazoo.protocol.states import KeeperState
from kazoo.retry import KazooRetry

from zookeeper_access.client import CONNECT_AGAIN, AccessClient

if TYPE_CHECKING:
    from zookeeper_access.settings import ZooKeeperAccess

RECONNECT_FIRST_S, RECONNECT_MAX_S = 0.05, 1.0
"""kazoo's own wait doubles up to an hour: a server was found after it had been back for as long as
it had been away."""
_OVER = (KeeperState.CLOSED, KeeperState.AUTH_FAILED)


class PromptClient(AccessClient):
    """For who asks again himself, and decides then whether he still wants it.

    kazoo keeps what is asked without a connection for the next one: a write whose asker had given
    up was made minutes later, over what others had written since.
    """

    def __init__(
        self, hosts: str, access: ZooKeeperAccess, *, logger: logging.Logger, **options: Any
    ) -> None:
        retry = KazooRetry(
            max_tries=-1,
            delay=RECONNECT_FIRST_S,
            max_delay=RECONNECT_MAX_S,
            ignore_expire=False,
        )
        super().__init__(hosts, access, logger=logger, connection_retry=retry, **options)

    def await_connection(self, timeout_s: float) -> bool:
        """Whether there is one, at the latest after so many seconds."""
        return bool(self._live.wait(timeout_s))

    def is_over(self) -> bool:
        """It will not connect any more."""
        return self.client_state in _OVER

    def _call(self, request: Any, async_object: Any) -> Any:
        if not self._live.is_set() and request is not CONNECT_AGAIN:
            async_object.set_exception(ConnectionLoss())
            return False
        return super()._call(request, async_object)

    def _session_callback(self, state: Any) -> None:
        if state in (KeeperState.CONNECTED, KeeperState.CONNECTED_RO):
            self._refuse_queued()
        super()._session_callback(state)

    def _refuse_queued(self) -> None:
        """What came in between the end of a connection and the moment when that was noticed."""
        kept = []
        while self._queue:
            request, asked = self._queue.popleft()
            # The wish to end the session, or only the connection, is for whichever there is.
            if asked is None or request is CONNECT_AGAIN:
                kept.append((request, asked))
            else:
                asked.set_exception(ConnectionLoss())
        self._queue.extend(kept)
