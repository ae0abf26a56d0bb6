"""DescribeDelegationToken (41), versions 0-3: tokens and their secrets, as far as one may see.

Behaviour: one's own, those one has asked for or may renew; others with Describe on the token or
DescribeTokens on its owner. A list of owners keeps those that they own, asked for, or may renew.
Tokens of super users are shown to super users alone.
Version notes: 3 who has asked for the token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.token_access import may_see, require_tokens
from dataplane.security.principal import Principal
from dataplane.wire.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(
    context: RequestContext, request: DescribeDelegationTokenRequest
) -> DescribeDelegationTokenResponse:
    tokens = require_tokens(context)
    asked = None
    if request.owners is not None:
        asked = {Principal(each.principal_type, each.principal_name) for each in request.owners}
    return DescribeDelegationTokenResponse(
        tokens=[
            DescribedDelegationToken(
                principal_type=token.owner.type,
                principal_name=token.owner.name,
                token_requester_principal_type=token.requester.type,
                token_requester_principal_name=token.requester.name,
                issue_timestamp=token.issued_ms,
                expiry_timestamp=token.expires_ms,
                max_timestamp=token.ends_ms,
                token_id=token.token_id,
                hmac=tokens.secret(token.token_id),
                renewers=[
                    DescribedDelegationTokenRenewer(
                        principal_type=each.type, principal_name=each.name
                    )
                    for each in token.renewers
                ],
            )
            for token in tokens.all_live()
            if (asked is None or asked & {token.owner, token.requester, *token.renewers})
            and may_see(context, token)
        ]
    )
