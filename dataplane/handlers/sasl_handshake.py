"""SaslHandshake (17), versions 0-1: the client chooses a mechanism.

Behaviour: on SASL listeners only; once per connection, and again in version 1 where the session's
lifetime is bounded (KIP-368), at most once a second. A mechanism that is not enabled is answered
with those that are, and the connection is closed.
Version notes: after 0 the tokens follow as bare frames, length and bytes without request headers
(KIP-43); after 1 as SaslAuthenticate requests (KIP-152). librdkafka 2.0 logs in with 1, but only
where 0 is advertised too.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.sasl import SaslServerSession, shown
from dataplane.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

AGAIN_AFTER_MS_MIN = 1_000

_log = logging.getLogger(__name__)


async def handle(context: RequestContext, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
    connection = context.connection
    table = context.broker.sasl.of_listener(connection.listener_name)
    mechanisms = list(table)
    if not connection.needs_sasl or (connection.authenticated and not _begins_again(context)):
        return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=mechanisms)
    if connection.sasl is None:
        connection.sasl = SaslServerSession(table)
    try:
        connection.sasl.handshake(request.mechanism)
    except KafkaError as error:
        _log.info(
            "login from %s refused: %s: mechanism %s",
            connection.client_host,
            error.code.name,
            shown(request.mechanism),
        )
        context.broker.audit.login_failed(
            connection, mechanism=request.mechanism, user="", reason=error.code.name
        )
        connection.close_after_answer = True
        return SaslHandshakeResponse(error_code=error.code, mechanisms=mechanisms)
    connection.bare_sasl_tokens = context.header.api_version == 0
    return SaslHandshakeResponse(mechanisms=mechanisms)


def _begins_again(context: RequestContext) -> bool:
    """Whether an authenticated connection may authenticate again; if so, it has begun to."""
    connection, now_ms = context.connection, context.broker.clock.monotonic_ms()
    last_ms = connection.authenticated_again_at_ms
    if connection.session_lifetime_ms is None or context.header.api_version == 0:
        return False
    if last_ms is not None and now_ms - last_ms < AGAIN_AFTER_MS_MIN:
        return False
    connection.authenticated_again_at_ms = now_ms
    connection.sasl = None
    return True
