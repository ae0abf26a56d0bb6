"""SaslHandshake (17), versions 0-1: the client chooses a mechanism.

Behaviour: allowed once per connection, on SASL listeners only. A mechanism that is not enabled is
answered with those that are, and the connection is closed.
Version notes: after 0 the tokens follow as bare frames, length and bytes without request headers
(KIP-43); after 1 as SaslAuthenticate requests (KIP-152). librdkafka 2.0 logs in with 1, but only
where 0 is advertised too.
Skipped: repeated authentication on a live connection (KIP-368), which `connections.max.reauth.ms` 0
does not ask for.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.sasl import SaslServerSession, shown
from dataplane.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

_log = logging.getLogger(__name__)


async def handle(context: RequestContext, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
    connection = context.connection
    table = context.broker.sasl.of_listener(connection.listener_name)
    mechanisms = list(table)
    if not connection.needs_sasl or connection.authenticated:
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
        connection.close_after_answer = True
        return SaslHandshakeResponse(error_code=error.code, mechanisms=mechanisms)
    connection.bare_sasl_tokens = context.header.api_version == 0
    return SaslHandshakeResponse(mechanisms=mechanisms)
