"""Server-sent events: `/console/events?topics=operations,clusters` and one operation's stream.

Events name what changed; the browser asks for the page again. An operation's stream carries
the whole operation, so its page needs no second request. Streams end after `STREAM_S`, and with
the right to them (`streams`); the browser opens the next one by itself.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase

from console.feeds import FEEDS, Feed, TooManyFeeds
from console.session import SignedOut, access_of
from console.streams import STREAMS, EventStream, Ticket, too_many
from controlplane.clusters import selectors as clusters
from controlplane.common.grants import Scope
from controlplane.common.parsers import is_storable
from controlplane.common.problems import NotFound, Problem
from controlplane.common.views import problem_response
from controlplane.operations import selectors as operations
from controlplane.operations.states import TERMINAL_STATES
from controlplane.tenants.context import AccessContext
from controlplane.tenants.models import Tenant

STREAM_S = 600.0
RECENT_OPERATIONS = 20


def _operations_version(tenant: Tenant, scope: Scope) -> Any:
    rows = operations.operation_list(tenant, scope)[:RECENT_OPERATIONS]
    return [[row["id"], row["state"], row.get("updated_at")] for row in rows]


def _clusters_version(tenant: Tenant, scope: Scope) -> Any:
    rows = clusters.cluster_list(tenant, scope)
    return [[row["id"], row["phase"], row["health"]["status"]] for row in rows]


TOPICS: dict[str, Callable[[Tenant, Scope], Any]] = {
    "operations": _operations_version,
    "clusters": _clusters_version,
}


async def events_view(request: HttpRequest) -> HttpResponseBase:
    if request.method != "GET":
        return only_get(request)
    asked = [name for name in request.GET.get("topics", "operations").split(",") if name]
    unknown = sorted(set(asked) - set(TOPICS))
    try:
        access = await sync_to_async(access_of)(request)
        tenant, scope = access.tenant, access.scope
        if unknown or not asked:
            raise Problem(f"topics are any of: {', '.join(TOPICS)}.", code="invalid", status=422)
        # Shared by those who see the same tenant through the same grants.
        feeds = {
            name: FEEDS.get(tenant.id, f"{scope.mark}/{name}", partial(TOPICS[name], tenant, scope))
            for name in dict.fromkeys(asked)
        }
        stream = STREAMS.join(ticket_of(request, access))
    except TooManyFeeds as full:
        return problem_response(request, too_many(full.whose))
    except Problem as problem:
        return problem_response(request, problem)
    return EventStream(stream, merged_changes(feeds))


async def operation_events_view(request: HttpRequest, operation_id: str) -> HttpResponseBase:
    if request.method != "GET":
        return only_get(request)
    try:
        access = await sync_to_async(access_of)(request)
        if not is_storable(operation_id):
            raise NotFound("Operation not found.")
        await sync_to_async(operations.operation_get)(access.tenant, access.scope, operation_id)
        feed = FEEDS.get(
            access.tenant.id,
            f"{access.scope.mark}/operation/{operation_id}",
            lambda: operations.operation_get(access.tenant, access.scope, operation_id),
        )
        stream = STREAMS.join(ticket_of(request, access))
    except TooManyFeeds as full:
        return problem_response(request, too_many(full.whose))
    except (NotFound, Problem) as problem:
        return problem_response(request, problem)
    return EventStream(stream, operation_changes(feed))


def ticket_of(request: HttpRequest, access: AccessContext) -> Ticket:
    user = request.user
    session_key = request.session.session_key
    if not isinstance(user, User) or session_key is None:
        raise SignedOut
    return Ticket(session_key, user.pk, access.tenant.id, access.scope.mark)


def only_get(request: HttpRequest) -> HttpResponseBase:
    refused = Problem("A stream is read with GET.", code="method-not-allowed", status=405)
    response = problem_response(request, refused)
    response["Allow"] = "GET"
    return response


async def merged_changes(feeds: dict[str, Feed]) -> AsyncGenerator[str, None]:
    """All feeds in one stream; the first value of each only says where we start."""
    queue: asyncio.Queue[str] = asyncio.Queue(maxsize=64)

    async def pump(name: str, feed: Feed) -> None:
        first = True
        async for text in feed.subscribe():
            if text is None:
                await queue.put(": ping\n\n")
            elif first:
                first = False
            else:
                await queue.put(event_text(name, {"topic": name}))

    tasks = [asyncio.create_task(pump(name, feed)) for name, feed in feeds.items()]
    ends_s = time.monotonic() + STREAM_S
    try:
        yield ": open\n\n"
        while time.monotonic() < ends_s:
            yield await queue.get()
    finally:
        for task in tasks:
            task.cancel()


async def operation_changes(feed: Feed) -> AsyncGenerator[str, None]:
    ends_s = time.monotonic() + STREAM_S
    subscription = feed.subscribe()
    try:
        async for text in subscription:
            if text is None:
                yield ": ping\n\n"
            else:
                yield f"event: operation\ndata: {text}\n\n"
                if json.loads(text)["state"] in TERMINAL_STATES:
                    return
            if time.monotonic() > ends_s:
                return
    finally:
        await subscription.aclose()  # type: ignore[attr-defined] # it is an async generator


def event_text(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
