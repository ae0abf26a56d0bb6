"""What becomes of a connection whose SASL session has ended (KIP-368)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.broker.networking.frame_buffer import FrameError
from dataplane.wire.apis import ApiKey
from dataplane.wire.errors import WireError
from dataplane.wire.headers import parse_request_header

if TYPE_CHECKING:
    from dataplane.broker.metrics import Metrics
    from dataplane.server.answers import Answer, Requester
    from dataplane.server.dispatch import Dispatcher

_LOGIN: Final = frozenset(map(int, (ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE)))


class EndedSession:
    """Takes the dispatcher's place in such a connection: it may authenticate again, no more.

    The first other request closes it. A connection whose session goes on pays nothing for this:
    it has the dispatcher itself.
    """

    def __init__(self, dispatcher: Dispatcher, metrics: Metrics) -> None:
        self._dispatcher = dispatcher
        self._metrics = metrics

    def may_overtake_waiting(self, _frame: memoryview, _api_key: int | None) -> bool:
        return False

    def submit(self, connection: Requester, frame: memoryview) -> Answer:
        """Start work on one request. Raises FrameError unless it belongs to a login."""
        try:
            key = parse_request_header(frame).api_key
        except WireError as error:
            raise FrameError(str(error)) from error
        if key not in _LOGIN:
            self._metrics.expired_connections.inc()
            raise FrameError(f"API {key} asked after the SASL session has ended")
        connection.info.produce_route = connection.info.fetch_route = None
        return self._dispatcher.submit(connection, frame)
