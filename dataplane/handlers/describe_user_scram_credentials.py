"""DescribeUserScramCredentials (50), version 0: mechanisms and iterations of users (KIP-554).

Behaviour: needs Describe on the cluster. Null or no users means all. A user without a credential
gets RESOURCE_NOT_FOUND, one that is named twice DUPLICATE_RESOURCE.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from dataplane.handlers.acl_codes import require_cluster
from dataplane.model.errors import ErrorCode
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.broker.security.scram_store import Credentials


async def handle(
    context: RequestContext, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    require_cluster(context, AclOperation.DESCRIBE)
    scram = context.broker.authorizer.scram
    if not request.users:
        results = [_found(user, found) for user, found in sorted(scram.all_users().items())]
    else:
        counts = collections.Counter(user.name for user in request.users)
        results = [
            _twice(name) if count > 1 else _found(name, await scram.refresh(name))
            for name, count in counts.items()
        ]
    return DescribeUserScramCredentialsResponse(results=results)


def _found(user: str, credentials: Credentials) -> DescribeUserScramCredentialsResult:
    if not credentials:
        return DescribeUserScramCredentialsResult(
            user=user,
            error_code=ErrorCode.RESOURCE_NOT_FOUND,
            error_message=f"Attempt to describe a user credential that does not exist: {user}",
        )
    return DescribeUserScramCredentialsResult(
        user=user,
        credential_infos=[
            CredentialInfo(mechanism=mechanism, iterations=credential.iterations)
            for mechanism, credential in sorted(credentials.items())
        ],
    )


def _twice(user: str) -> DescribeUserScramCredentialsResult:
    return DescribeUserScramCredentialsResult(
        user=user,
        error_code=ErrorCode.DUPLICATE_RESOURCE,
        error_message=f"Cannot describe SCRAM credentials for the same user twice: {user}",
    )
