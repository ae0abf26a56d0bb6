"""SaslHandshake (17), version 1: the client chooses a mechanism.

Behaviour: allowed once per connection, on SASL listeners only. A mechanism that is not enabled is
answered with those that are, and the connection is closed.
Skipped: 0, after which bare tokens without request headers would follow; repeated authentication
on a live connection (KIP-368), which `connections.max.reauth.ms` 0 does not ask for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.sasl import SaslServerSession
from dataplane.security.scram import ScramMechanism
from dataplane.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
    connection = context.connection
    mechanisms = enabled_mechanisms(context)
    if not connection.needs_sasl or connection.authenticated:
        return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=mechanisms)
    if connection.sasl is None:
        authorizer = context.services.authorizer
        connection.sasl = SaslServerSession(
            mechanisms,
            authorizer.scram.credential,
            context.services.entropy,
            decoy_secret=authorizer.decoy_secret,
        )
    try:
        connection.sasl.handshake(request.mechanism)
    except KafkaError as error:
        connection.close_after_answer = True
        return SaslHandshakeResponse(error_code=error.code, mechanisms=mechanisms)
    return SaslHandshakeResponse(mechanisms=mechanisms)


def enabled_mechanisms(context: RequestContext) -> list[str]:
    """What the listener's configuration enables, of what this release implements."""
    enabled = context.services.config.for_listener(
        context.connection.listener_name, "sasl.enabled.mechanisms"
    )
    names = enabled if isinstance(enabled, tuple) else ()
    return [name for name in names if ScramMechanism.from_sasl_name(name) is not None]
