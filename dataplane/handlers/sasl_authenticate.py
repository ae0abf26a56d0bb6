"""SaslAuthenticate (36), versions 0-2: one token of the exchange that SaslHandshake began.

Behaviour: a refusal is SASL_AUTHENTICATION_FAILED with a message, and the connection is closed
after it, as it is after a token without a handshake (ILLEGAL_SASL_STATE). Nothing is said about
whether a user exists. The log names the mechanism and the user that was claimed, never a token.
Version notes: 1 the session's lifetime: 0, it does not end (`connections.max.reauth.ms` 0).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.principal import Principal
from dataplane.security.sasl import SaslServerSession, shown
from dataplane.wire.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import ConnectionInfo, RequestContext

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
        answer = await _take(connection, session, bytes(request.auth_bytes))
    except KafkaError as error:
        return SaslAuthenticateResponse(error_code=error.code, error_message=error.message)
    return SaslAuthenticateResponse(auth_bytes=answer)


async def bare_token(connection: ConnectionInfo, token: bytes) -> bytes | None:
    """The answer to a token that came without a request, as after SaslHandshake v0.

    None when it is refused: such clients have no place for an error, the connection just closes.
    """
    try:
        return await _take(connection, connection.sasl, token)
    except KafkaError:
        return None


async def _take(connection: ConnectionInfo, session: SaslServerSession, token: bytes) -> bytes:
    """One token further. KafkaError when it is refused: logged, and closed after it."""
    try:
        answer = await session.authenticate(token)
    except KafkaError as error:
        _log.info(
            "login from %s refused: mechanism %s, user %s: %s",
            connection.client_host,
            session.mechanism,
            shown(session.claimed_username),
            error.message,
        )
        connection.close_after_answer = True
        raise
    if session.identity is not None:
        connection.principal = Principal.user(session.identity.name)
        connection.authenticated = True
        connection.bare_sasl_tokens = False
    return answer
