"""RenewDelegationToken (39), versions 0-2: a token lives on, until at most its last day.

Behaviour: for the owner and the renewers, whoever has logged in otherwise than by a token. Who
knows the HMAC names the token by it. Any broker takes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.token_access import require_tokens, told
from dataplane.wire.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(
    context: RequestContext, request: RenewDelegationTokenRequest
) -> RenewDelegationTokenResponse:
    secret = bytes(request.hmac)
    with told(context, "RENEW_TOKEN", secret):
        expires_ms = await require_tokens(context).renew(
            secret, context.principal, request.renew_period_ms
        )
    return RenewDelegationTokenResponse(expiry_timestamp_ms=expires_ms)
