"""`/console/events/messages/<cluster>/<topic>?…`: messages as they are found, or a live tail.

The query is that of `GET /api/v1/clusters/{id}/topics/{name}/messages`, with `tail=true` for a live
tail. Whoever closes the stream cancels the reading. What is refused before anything is asked of the
brokers is a problem; what fails later is the event `failed`, and the last one.

A step of a reading holds a thread of its own pool for a moment; between two of them none waits.
Brokers that hang are waited for as long as by no other read, so a stream says early that it waits:
as soon as a page would have been answered it begins, with the phase `connecting`.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponseBase
from rest_framework.exceptions import APIException

from console.events import event_text, only_get, ticket_of
from console.session import access_of
from console.streams import STREAMS, EventStream
from controlplane.common.exception_handler import to_problem
from controlplane.common.parsers import is_storable
from controlplane.common.problems import NotFound, Problem, field_problem
from controlplane.common.views import problem_response
from controlplane.gateway.errors import GatewayError
from controlplane.messages.reading import READERS_MAX, Asked, Frame, reading
from controlplane.messages.serializers import MessageQuerySerializer, query_of
from controlplane.messages.services import PAGE, TAIL, read_begin
from controlplane.tenants.context import AccessContext

TAIL_PARAMETER = "tail"
_THREADS = ThreadPoolExecutor(READERS_MAX, thread_name_prefix="messages")
_BEGINNINGS = ThreadPoolExecutor(READERS_MAX, thread_name_prefix="messages-begin")
"""Each holds its thread while brokers are asked where to begin."""
WAITING: dict[str, object] = {
    "phase": "connecting",
    "partitions": [],
    "unavailable": [],
    "masked": None,
    "held_back": [],
}
"""What can be said before any broker has said where to begin."""


async def message_events_view(
    request: HttpRequest, cluster_id: str, topic: str
) -> HttpResponseBase:
    if request.method != "GET":
        return only_get(request)
    try:
        access = await sync_to_async(access_of)(request)
        stream = STREAMS.join(ticket_of(request, access))
    except (APIException, GatewayError, Problem) as error:
        return problem_response(request, to_problem(error) or Problem())
    begun = asyncio.wrap_future(_BEGINNINGS.submit(_begin, request, access, cluster_id, topic))
    begun.add_done_callback(_heard)
    try:
        return EventStream(stream, await _messages_of(begun))
    except BaseException as error:
        stream.close()
        if isinstance(error, APIException | GatewayError | Problem):
            return problem_response(request, to_problem(error) or Problem())
        raise


def _heard(begun: "asyncio.Future[Asked]") -> None:
    """Who has left does not hear how it ended; that is no fault to be logged."""
    if not begun.cancelled():
        begun.exception()


async def _messages_of(begun: "asyncio.Future[Asked]") -> AsyncGenerator[str, None]:
    """Raises Problem, APIException, GatewayError: in time for an answer instead of a stream."""
    done, _ = await asyncio.wait({begun}, timeout=settings.READ_PATIENCE_S)
    return found_messages(begun.result()) if done else _late_messages(begun)


async def _late_messages(begun: "asyncio.Future[Asked]") -> AsyncGenerator[str, None]:
    """As `found_messages`, of what is not yet begun."""
    yield event_text("phase", WAITING)
    try:
        asked = await begun
    except (APIException, GatewayError, Problem) as error:
        yield _failed(error)
        return
    messages = found_messages(asked)
    try:
        async for text in messages:
            yield text
    finally:
        await messages.aclose()


def _begin(request: HttpRequest, access: AccessContext, cluster_id: str, topic: str) -> Asked:
    """Raises Problem, APIException, GatewayError."""
    try:
        return _begun(request, access, cluster_id, topic)
    finally:
        connection.close()  # the thread may have nothing to do for hours


def _begun(request: HttpRequest, access: AccessContext, cluster_id: str, topic: str) -> Asked:
    params = request.GET.dict()
    known = {*MessageQuerySerializer().fields, TAIL_PARAMETER}
    for name in params:
        if name not in known:
            raise field_problem(f"/{name}", f"There is no query parameter {name!r} here.")
    if not is_storable("".join((cluster_id, topic, *params.values()))):
        raise NotFound(f"There is no topic {topic}.")
    is_tail = params.pop(TAIL_PARAMETER, "false") == "true"
    return read_begin(
        tenant=access.tenant,
        actor=access.actor,
        cluster_id=cluster_id,
        topic=topic,
        query=query_of(params, is_tail=is_tail),
        how=TAIL if is_tail else PAGE,
    )


async def found_messages(asked: Asked) -> AsyncGenerator[str, None]:
    """The reading's frames as events, until it is over or nobody listens any more."""
    steps = reading(asked)
    under_way: Future[list[Frame] | None] | None = None
    try:
        while True:
            under_way = _THREADS.submit(_step, steps)
            frames = await asyncio.wrap_future(under_way)
            if frames is None:
                return
            yield "".join(event_text(name, data) for name, data in frames)
    except (GatewayError, Problem) as error:
        yield _failed(error)
    finally:
        _end(steps, under_way)


def _failed(error: Exception) -> str:
    shown = (to_problem(error) or Problem()).as_dict()
    names = ("status", "code", "title", "detail")
    return event_text("failed", {name: shown[name] for name in names})


def _step(steps: Iterator[list[Frame]]) -> list[Frame] | None:
    """The next frames; None: it is over."""
    try:
        return next(steps, None)
    finally:
        connection.close()  # the thread may have nothing to do for hours


def _close(steps: Iterator[list[Frame]]) -> None:
    try:
        steps.close()  # type: ignore[attr-defined] # it is a generator
    finally:
        connection.close()


def _end(steps: Iterator[list[Frame]], under_way: "Future[list[Frame] | None] | None") -> None:
    """Close the reading once its step is over: a generator at work cannot be closed."""

    def close(_: object = None) -> None:
        _THREADS.submit(_close, steps)

    if under_way is None:
        close()
    else:
        under_way.add_done_callback(close)
