"""Which API keys this broker serves, in which versions, and where their handlers live.

Both follow from the one table of APIs, `wire/apis`: every row has a module of its name here.

An ordinary handler is `async def handle(ctx, request) -> response | None`. A hot one (Produce,
Fetch, Metadata, OffsetCommit, DeleteRecords) is `def handle_frame(ctx, frame, position) -> Reply`:
it parses in place, answers without a task where it can, and says so by its place in `HOT`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dataplane.wire.apis import API_TABLE, ApiKey

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from dataplane.broker.context import RequestContext

    Handler = Callable[[RequestContext, Any], Coroutine[Any, Any, Any]]

HANDLED: dict[ApiKey, tuple[int, int]] = {
    row.key: (row.min_version, row.max_version) for row in API_TABLE.values()
}
"""Lowest and highest version of each API; the rows are those of `wire/apis`."""

# Answered without a task per request: those with codecs of their own, and what waits by deadline.
HOT: frozenset[ApiKey] = frozenset(
    {
        ApiKey.PRODUCE,
        ApiKey.FETCH,
        ApiKey.METADATA,
        ApiKey.OFFSET_COMMIT,
        ApiKey.DELETE_RECORDS,
    }
)

_loaded: dict[ApiKey, Any] = {}


def handler_module(api_key: ApiKey) -> Any:
    """The module `dataplane.handlers.<api_name>`, imported at first use of the API."""
    module = _loaded.get(api_key)
    if module is None:
        module = importlib.import_module(f"dataplane.handlers.{API_TABLE[api_key].module}")
        _loaded[api_key] = module
    return module


def handler(api_key: ApiKey) -> Handler:
    """The coroutine function that answers an ordinary API."""
    function: Handler = handler_module(api_key).handle
    return function
