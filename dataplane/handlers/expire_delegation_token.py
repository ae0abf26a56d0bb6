"""ExpireDelegationToken (40), versions 0-2: a token ends sooner, or at once.

Behaviour: for the owner and the renewers, whoever has logged in otherwise than by a token. Who
knows the HMAC names the token by it. Any broker takes it.
A negative period ends the token at once; who has logged in by it stays until the end that the login
was given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.token_access import require_tokens, told
from dataplane.wire.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(
    context: RequestContext, request: ExpireDelegationTokenRequest
) -> ExpireDelegationTokenResponse:
    secret = bytes(request.hmac)
    with told(context, "EXPIRE_TOKEN", secret):
        expires_ms = await require_tokens(context).expire(
            secret, context.principal, request.expiry_time_period_ms
        )
    return ExpireDelegationTokenResponse(expiry_timestamp_ms=expires_ms)
