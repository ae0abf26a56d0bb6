"""AlterUserScramCredentials (51), version 0: set and delete credentials of users (KIP-554).

Behaviour: needs Alter on the cluster. The client sends a salted password; only the keys derived
from it are stored. One result per user: all changes of a user happen, or none. Taken by any broker.
Checked is what Kafka checks: name, mechanism, iterations (4096 to 16384); any salt and any salted
password that is not empty are taken. Unlike Kafka, credentials of a super user, the brokers' own
included, are a super user's to change: who may alter users does not become one of those by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.acl_codes import require_cluster
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.coordinator import CoordinatorError
from dataplane.security.acl import AclOperation
from dataplane.security.principal import Principal
from dataplane.security.scram import (
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    ScramCredential,
    ScramMechanism,
)
from dataplane.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.broker.security.scram_store import Changes

Alteration = ScramCredentialDeletion | ScramCredentialUpsertion


async def handle(
    context: RequestContext, request: AlterUserScramCredentialsRequest
) -> AlterUserScramCredentialsResponse:
    by_user: dict[str, list[Alteration]] = {}
    alterations: list[Alteration] = [*request.deletions, *request.upsertions]
    for alteration in alterations:
        by_user.setdefault(alteration.name, []).append(alteration)
    return AlterUserScramCredentialsResponse(
        results=[await _alter(context, user, asked) for user, asked in by_user.items()]
    )


async def _alter(
    context: RequestContext, user: str, asked: list[Alteration]
) -> AlterUserScramCredentialsResult:
    result = AlterUserScramCredentialsResult(user=user)
    try:
        require_cluster(context, AclOperation.ALTER)
        authorizer = context.broker.authorizer
        if authorizer.is_super_user(Principal.user(user)) and not context.is_super_user:
            raise KafkaError(
                ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
                "Only a super user may change the credentials of a super user",
            )
        await authorizer.scram.alter(user, _changes(user, asked))
    except KafkaError as error:
        result.error_code, result.error_message = error.code, error.message
    except CoordinatorError as error:
        result.error_code = ErrorCode.REQUEST_TIMED_OUT
        result.error_message = f"ZooKeeper: {error!r}"
    return result


def _changes(user: str, asked: list[Alteration]) -> Changes:
    """KafkaError when one of the user's alterations is unfit; of several the last, as in Kafka."""
    if not user:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    changes: Changes = {}
    refusal: KafkaError | None = None
    for alteration in asked:
        try:
            mechanism = _mechanism(alteration.mechanism)
            changes[mechanism] = (
                _credential(mechanism, alteration)
                if isinstance(alteration, ScramCredentialUpsertion)
                else None
            )
        except KafkaError as error:
            refusal = error
    if refusal is not None:
        raise refusal
    if len(changes) < len(asked):
        raise KafkaError(
            ErrorCode.DUPLICATE_RESOURCE,
            "A user credential cannot be altered twice in the same request",
        )
    return changes


def _mechanism(number: int) -> ScramMechanism:
    try:
        return ScramMechanism(number)
    except ValueError as error:
        raise KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism") from error


def _credential(mechanism: ScramMechanism, asked: ScramCredentialUpsertion) -> ScramCredential:
    """Salt and salted password may have any length: both go into an HMAC, and what the client
    salts its password with is its own affair.
    """
    if asked.iterations < ITERATIONS_MIN:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if asked.iterations > ITERATIONS_MAX:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
    if not asked.salted_password:
        # Kafka's HMAC takes no empty key; it answers UNKNOWN_SERVER_ERROR.
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "The salted password must not be empty")
    return ScramCredential.from_salted_password(
        mechanism, bytes(asked.salted_password), bytes(asked.salt), asked.iterations
    )
