"""SaslAuthenticate (36), versions 0-2: one token of the exchange that SaslHandshake began.

Behaviour: a refusal is SASL_AUTHENTICATION_FAILED with a message, and the connection is closed
after it, as it is after a token without a handshake (ILLEGAL_SASL_STATE). Nothing is said about
whether a user exists.
Version notes: 1 the session's lifetime: 0, it does not end (`connections.max.reauth.ms` 0).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.principal import Principal
from dataplane.security.sasl import SaslServerSession, SaslState
from dataplane.wire.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

_log = logging.getLogger(__name__)


async def handle(
    context: RequestContext, request: SaslAuthenticateRequest
) -> SaslAuthenticateResponse:
    connection = context.connection
    session = connection.sasl
    if not isinstance(session, SaslServerSession):
        connection.close_after_answer = connection.needs_sasl
        return SaslAuthenticateResponse(
            error_code=ErrorCode.ILLEGAL_SASL_STATE,
            error_message="SaslHandshake has to come first",
        )
    try:
        answer = await session.authenticate(bytes(request.auth_bytes))
    except KafkaError as error:
        _log.info("login from %s refused: %s", connection.client_host, error.message)
        connection.close_after_answer = True
        return SaslAuthenticateResponse(error_code=error.code, error_message=error.message)
    if session.state is SaslState.COMPLETE and session.username is not None:
        connection.principal = Principal.user(session.username)
        connection.authenticated = True
    return SaslAuthenticateResponse(error_message=None, auth_bytes=answer)
