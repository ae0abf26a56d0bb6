"""What the handlers of delegation tokens share: who may ask for them, and on what connection."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from dataplane.handlers.audit_entries import Entry, tell
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.security.principal import ANONYMOUS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataplane.broker.context import RequestContext
    from dataplane.broker.security.token_store import TokenStore
    from dataplane.security.delegation_tokens import DelegationToken
    from dataplane.security.principal import Principal


def require_tokens(context: RequestContext) -> TokenStore:
    """The store. KafkaError: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED for whoever has not logged in, or
    has by a token; DELEGATION_TOKEN_AUTH_DISABLED.
    """
    connection = context.connection
    is_known = connection.security_protocol != "PLAINTEXT" and context.principal != ANONYMOUS
    if not is_known or connection.is_token_login:
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    tokens = context.broker.authorizer.tokens
    if not tokens.is_enabled:
        raise KafkaError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    return tokens


@contextlib.contextmanager
def told(context: RequestContext, operation: str, secret: bytes) -> Iterator[None]:
    """Write into the audit log how what is done to the token of this secret has ended."""
    token_id = context.broker.authorizer.tokens.id_of(secret)
    code = ErrorCode.UNKNOWN_SERVER_ERROR
    try:
        yield
        code = ErrorCode.NONE
    except KafkaError as error:
        code = error.code
        raise
    finally:
        tell(context, Entry(operation, f"DelegationToken:{token_id or 'unknown'}", code))


def may_make_for(context: RequestContext, owner: Principal) -> bool:
    """Whether the caller may have a token that acts as `owner`.

    Unlike in Kafka, for a super user only a super user may: tenants grant CreateTokens themselves.
    """
    if owner == context.principal or context.is_super_user:
        return True
    if context.broker.authorizer.is_super_user(owner):
        return False
    return context.authorize(AclOperation.CREATE_TOKENS, ResourceType.USER, str(owner))


def may_see(context: RequestContext, token: DelegationToken) -> bool:
    """Whether the caller may see the token, and with it its secret."""
    if context.principal == token.requester or token.may_be_renewed_by(context.principal):
        return True
    if context.broker.authorizer.is_super_user(token.owner) and not context.is_super_user:
        return False
    return context.sees(
        AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id
    ) or context.sees(AclOperation.DESCRIBE_TOKENS, ResourceType.USER, str(token.owner))
