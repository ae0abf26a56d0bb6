"""SaslAuthenticate (36), versions 0-2: one token of the exchange that SaslHandshake began.

Behaviour: a refusal is SASL_AUTHENTICATION_FAILED with a message, and the connection is closed
after it, as it is after a token without a handshake (ILLEGAL_SASL_STATE). Nothing is said about
whether a user exists. The log names the mechanism and the user that was claimed, never a token.
Who authenticates again (KIP-368) may change neither mechanism nor principal.
Version notes: 1 the session's lifetime: what remains of the credential, and at most
`connections.max.reauth.ms`; 0 when neither bounds it. It counts for older clients too.
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
    from dataplane.broker.context import ConnectionInfo, HandlerContext, RequestContext
    from dataplane.security.sasl_exchange import Identity

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
        answer = await _take(context.broker, connection, session, bytes(request.auth_bytes))
    except KafkaError as error:
        return SaslAuthenticateResponse(error_code=error.code, error_message=error.message)
    lifetime_ms = connection.session_lifetime_ms if session.identity is not None else None
    return SaslAuthenticateResponse(auth_bytes=answer, session_lifetime_ms=lifetime_ms or 0)


async def bare_token(
    broker: HandlerContext, connection: ConnectionInfo, token: bytes
) -> bytes | None:
    """The answer to a token that came without a request, as after SaslHandshake v0.

    None when it is refused: such clients have no place for an error, the connection just closes.
    """
    try:
        return await _take(broker, connection, connection.sasl, token)
    except KafkaError:
        return None


async def _take(
    broker: HandlerContext, connection: ConnectionInfo, session: SaslServerSession, token: bytes
) -> bytes:
    """One token further. KafkaError when it is refused: logged, and closed after it."""
    try:
        if connection.sasl_mechanism not in (None, session.mechanism):
            raise KafkaError(
                ErrorCode.SASL_AUTHENTICATION_FAILED,
                f"the mechanism of a connection cannot change from {connection.sasl_mechanism}",
            )
        answer = await session.authenticate(token)
        if session.identity is not None:
            _log_in(broker, connection, session.mechanism, session.identity)
    except KafkaError as error:
        broker.metrics.failed_logins.inc()
        broker.audit.login_failed(
            connection,
            mechanism=session.mechanism or "",
            user=session.claimed_username or "",
            reason=error.message or "",
        )
        _log.info(
            "login from %s refused: mechanism %s, user %s: %s",
            connection.client_host,
            session.mechanism,
            shown(session.claimed_username),
            error.message,
        )
        connection.close_after_answer = True
        raise
    return answer


def _log_in(
    broker: HandlerContext, connection: ConnectionInfo, mechanism: str | None, identity: Identity
) -> None:
    """Make the connection that of the identity. KafkaError if it is another's already."""
    principal = Principal.user(identity.name)
    if connection.sasl_mechanism is not None and (
        connection.principal != principal or connection.is_token_login != identity.by_token
    ):
        raise KafkaError(
            ErrorCode.SASL_AUTHENTICATION_FAILED,
            "the principal of a connection cannot change",
        )
    connection.principal = principal
    connection.sasl_mechanism = mechanism
    connection.is_token_login = identity.by_token
    connection.session_lifetime_ms = _lifetime_ms(broker, connection, identity)
    connection.authenticated = True
    connection.bare_sasl_tokens = False


def _lifetime_ms(
    broker: HandlerContext, connection: ConnectionInfo, identity: Identity
) -> int | None:
    """How long the session may last from now; None: nothing bounds it."""
    config = broker.configs.broker_config
    key = "connections.max.reauth.ms"
    longest_ms = config.for_mechanism(
        connection.listener_name, connection.sasl_mechanism or "", key
    )
    bounds = [longest_ms] if isinstance(longest_ms, int) and longest_ms > 0 else []
    if identity.ends_at_ms is not None:
        bounds.append(max(0, identity.ends_at_ms - broker.clock.realtime_ms()))
    return min(bounds, default=None)
