"""CreateDelegationToken (38), versions 0-3: a token that logs in as its owner by SCRAM.

Behaviour: for whoever has logged in otherwise than by a token. Any broker takes it. The HMAC in the
answer is the token's password; nothing else holds it.
Version notes: 3 for another owner (KIP-373), which needs CreateTokens on that user, and for a super
user a super user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.token_access import may_make_for, require_tokens
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.delegation_tokens import renewers_from, user_from
from dataplane.wire.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(
    context: RequestContext, request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse:
    tokens = require_tokens(context)
    requester = owner = context.principal
    if request.owner_principal_name:
        owner = user_from(request.owner_principal_type or "", request.owner_principal_name)
    if not may_make_for(context, owner):
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
    renewers = renewers_from(
        [(each.principal_type, each.principal_name) for each in request.renewers]
    )
    token = await tokens.create(owner, requester, renewers, request.max_lifetime_ms)
    return CreateDelegationTokenResponse(
        principal_type=owner.type,
        principal_name=owner.name,
        token_requester_principal_type=requester.type,
        token_requester_principal_name=requester.name,
        issue_timestamp_ms=token.issued_ms,
        expiry_timestamp_ms=token.expires_ms,
        max_timestamp_ms=token.ends_ms,
        token_id=token.token_id,
        hmac=tokens.secret(token.token_id),
    )
