"""What the three configuration handlers share: authorization, and an answer for each resource."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol, TypeVar

from dataplane.broker.metadata.config_admin import Resource
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from dataplane.broker.context import RequestContext


class _Altered(Protocol):
    """A resource as the requests that alter it name it."""

    @property
    def resource_type(self) -> int: ...
    @property
    def resource_name(self) -> str: ...


class _Result(Protocol):
    error_code: int
    error_message: str | None


AlteredT = TypeVar("AlteredT", bound=_Altered)
ResultT = TypeVar("ResultT", bound=_Result)


def require(
    context: RequestContext, operation: AclOperation, resource_type: int, name: str
) -> None:
    """Topics and groups need the operation on themselves, brokers on the cluster.

    Raises KafkaError.
    """
    if resource_type == Resource.TOPIC:
        if not context.authorize(operation, ResourceType.TOPIC, name):
            raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    elif resource_type == Resource.GROUP:
        if not context.authorize(operation, ResourceType.GROUP, name):
            raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    elif not context.authorize(operation, ResourceType.CLUSTER, CLUSTER_NAME):
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


async def alter_each(
    context: RequestContext,
    resources: Sequence[AlteredT],
    alter: Callable[[AlteredT], Awaitable[None]],
    result: Callable[..., ResultT],
) -> list[ResultT]:
    """Alter every resource that the caller may alter and the request names once.

    A KafkaError of one of them is its own answer and stops no other.
    """
    named = Counter((resource.resource_type, resource.resource_name) for resource in resources)
    answers = []
    for resource in resources:
        kind, name = resource.resource_type, resource.resource_name
        answer = result(resource_type=kind, resource_name=name)
        answers.append(answer)
        try:
            require(context, AclOperation.ALTER_CONFIGS, kind, name)
            if named[kind, name] > 1:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, "Each resource must appear at most once."
                )
            await alter(resource)
        except KafkaError as error:
            answer.error_code = error.code
            answer.error_message = error.message
    return answers
