"""From a frame to its answer: header, SASL gate, version check, handler, error in shape."""

from __future__ import annotations

import asyncio
import logging
import struct
from typing import TYPE_CHECKING, Any

from dataplane.broker.context import CloseConnection, MeteredContext, RequestContext
from dataplane.broker.delayed.deferred import Deferred
from dataplane.broker.metrics import UNKNOWN_API
from dataplane.broker.networking.frame_buffer import FrameError
from dataplane.broker.replicas.staged_appends import StagedAnswer
from dataplane.handlers import registry
from dataplane.handlers.audit_entries import ENTRIES, audit, untold
from dataplane.handlers.error_response import error_response
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType
from dataplane.server.large_requests import LargeRequests
from dataplane.server.metered import TimedSteps, hold
from dataplane.server.rate_limited_log import RateLimitedLog
from dataplane.server.timing import Timing
from dataplane.wire.apis import API_TABLE, ApiKey, load
from dataplane.wire.codec import decode
from dataplane.wire.errors import WireError
from dataplane.wire.headers import (
    RequestHeader,
    encode_response_frame,
    encode_unsupported_frame,
    parse_request_header,
)

if TYPE_CHECKING:
    from dataplane.broker.context import ConnectionInfo, HandlerContext
    from dataplane.broker.quotas.metering import Metering
    from dataplane.server.answers import Answer, Reply, Requester

_log = logging.getLogger(__name__)

# Looked up for every request: members of an enumeration are several times as slow as an int.
_PRODUCE, _FETCH = int(ApiKey.PRODUCE), int(ApiKey.FETCH)
_KEY = struct.Struct(">h")
_SIZE = struct.Struct(">i")
_HOT = frozenset(int(key) for key in registry.HOT)
SAMPLE_EVERY = 17
"""Of so many requests one has its time taken if it is a hot one, which no task times. A prime, so
that clients which ask for things in turn are not always met at the same one."""
_KNOWN = frozenset(int(key) for key in ApiKey)
_BROKERS_OWN = frozenset(
    {
        ApiKey.LEADER_AND_ISR,
        ApiKey.STOP_REPLICA,
        ApiKey.UPDATE_METADATA,
        ApiKey.CONTROLLED_SHUTDOWN,
        ApiKey.ALTER_PARTITION,
        ApiKey.ALLOCATE_PRODUCER_IDS,
        ApiKey.WRITE_TXN_MARKERS,
    }
)
_BEFORE_SASL = frozenset({ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})


class Dispatcher:
    """Answers requests of every connection of one broker."""

    def __init__(self, broker: HandlerContext) -> None:
        self._broker = broker
        self._appends = broker.replica_manager.appends
        self._metrics = broker.metrics
        self._quotas = broker.quotas
        self._rate_limited_log = RateLimitedLog(_log)
        self._tasks: set[asyncio.Task[None]] = set()
        self._large_requests = LargeRequests(lambda: asyncio.get_running_loop().time())
        self._counts = broker.metrics.requests
        self._until_sample = SAMPLE_EVERY
        self._hot: dict[tuple[int, int], Any] = {}  # API key, version: what takes its frames

    def may_overtake_waiting(self, frame: memoryview, api_key: int | None) -> bool:
        """Whether work on `frame` may start while the request before it waits for its replicas.

        `api_key`: of what requests that one lets begin, as its `Deferred` says.
        """
        return len(frame) >= 2 and _KEY.unpack_from(frame)[0] == api_key

    def wait_before(self, connection: Requester, frame: memoryview) -> int:
        """How many milliseconds a large request may not be looked at yet, 0 if it may be now."""
        info = connection.info
        is_produce = len(frame) >= _KEY.size and _KEY.unpack_from(frame)[0] == _PRODUCE
        if is_produce or not info.authenticated:
            return 0  # before SASL little is allowed, and nothing else
        is_broker = self._broker.authorizer.authorize(
            info.principal,
            info.client_host,
            AclOperation.CLUSTER_ACTION,
            ResourceType.CLUSTER,
            CLUSTER_NAME,
        )
        return 0 if is_broker else self._large_requests.wait_ms(info.principal.name, len(frame))

    def submit(  # noqa: PLR0911, PLR0912 - a method more would be a call more for each request
        self, connection: Requester, frame: memoryview
    ) -> Answer:
        """Start work on one request. Raises FrameError when the stream makes no sense."""
        self._until_sample -= 1
        if not self._until_sample:
            return self._submit_sampled(connection, frame)
        info = connection.info
        route = info.produce_route
        if route is not None:
            run: StagedAnswer | None = route.stage(frame)
            if run is not None:
                self._counts[_PRODUCE] += 1
                return run
            route.run = None
        if info.fetch_route is not None:
            answered: Reply | None = info.fetch_route.answer(frame)
            if answered is not None:
                self._counts[_FETCH] += 1
                return answered
        if info.bare_sasl_tokens:
            return self._submit_token(connection, bytes(frame))
        try:
            header = parse_request_header(frame)
        except WireError as error:
            raise FrameError(str(error)) from error
        key = header.api_key
        hot = self._hot.get((key, header.api_version))
        if hot is None or not info.authenticated:
            hot = self._prepare(header, authenticated=info.authenticated)
            if hot is None:
                return self._submit_other(connection, header, frame)
        self._counts[key] += 1
        if self._quotas.is_active:
            metering = self._quotas.metering(info.principal.name, header.client_id or "")
            if metering is not None:
                metered = MeteredContext(self._broker, info, header, metering)
                return self._submit_metered(connection, metered, frame, hot)
        context = RequestContext(self._broker, info, header)
        appends = self._appends
        if key and appends.partitions:
            appends.commit()  # only a Produce may be worked on before it
        try:
            answer: Answer = hot(context, frame, header.body_position)
        except Exception as error:  # noqa: BLE001 - answered in shape, logged, counted
            appends.commit()
            return self._hot_failed(context, frame, error)
        return answer

    def _submit_sampled(self, connection: Requester, frame: memoryview) -> Answer:
        """As any request, and if it is a hot one how long it takes is noted."""
        self._until_sample = SAMPLE_EVERY
        key = _KEY.unpack_from(frame)[0] if len(frame) >= _KEY.size else -1
        if key not in _HOT or not connection.info.authenticated:
            return self.submit(connection, frame)
        timing = Timing(self._metrics, API_TABLE[ApiKey(key)].name, asyncio.get_running_loop().time)
        answer: Answer = timing.through(self.submit(connection, frame))
        return answer

    def _submit_metered(
        self, connection: Requester, context: MeteredContext, frame: memoryview, hot: Any
    ) -> Answer:
        """As any hot request, but by itself: its client may have to wait behind it."""
        header, metering = context.header, context.metering
        now_s = asyncio.get_running_loop().time
        started_s = now_s()
        self._appends.commit()
        if header.api_key != _FETCH:  # it may have to wait before it is answered: it asks then
            metering.spent_before()
        if header.api_key == _PRODUCE:
            metering.produced(len(frame))
        try:
            answer: Answer = hot(context, frame, header.body_position)
            if isinstance(answer, StagedAnswer):
                answer = answer.finish()
        except Exception as error:  # noqa: BLE001 - answered in shape, logged, counted
            self._appends.commit()
            answer = self._hot_failed(context, frame, error)
        metering.spend(now_s() - started_s)
        return hold(connection, metering, answer)

    def _prepare(self, header: RequestHeader, *, authenticated: bool) -> Any | None:
        """What takes frames of this API and version, if it is hot, served and allowed."""
        key = header.api_key
        if key not in registry.HOT or not (authenticated or key in _BEFORE_SASL):
            return None
        least, most = registry.HANDLED[ApiKey(key)]
        if not least <= header.api_version <= most:
            return None
        hot = registry.handler_module(ApiKey(key)).handle_frame
        self._hot[key, header.api_version] = hot
        self._counts.setdefault(key, 0)
        return hot

    def _submit_other(
        self, connection: Requester, header: RequestHeader, frame: memoryview
    ) -> Answer:
        """What becomes a task, is not served, or not allowed yet."""
        key = header.api_key
        info = connection.info
        self._metrics.count_request(key if key in _KNOWN else UNKNOWN_API)
        if not info.authenticated and key not in _BEFORE_SASL:
            raise FrameError(f"API {key} asked before SASL authentication")
        context = self._context_of_task(info, header)
        versions = registry.HANDLED.get(key)  # type: ignore[call-overload]  # an int finds its ApiKey
        if versions is None or not versions[0] <= header.api_version <= versions[1]:
            return self._unsupported(context, frame)
        return self._submit_task(connection, context, frame)

    def _context_of_task(self, info: ConnectionInfo, header: RequestHeader) -> RequestContext:
        """Brokers' commands to each other are exempt from quotas, and so is logging in."""
        context = RequestContext(self._broker, info, header)
        key = header.api_key
        if not self._quotas.is_active or key in _BEFORE_SASL:
            return context
        if key in _BROKERS_OWN and context.sees(
            AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
        ):
            return context
        metering = self._quotas.metering(info.principal.name, header.client_id or "")
        return context if metering is None else MeteredContext(self._broker, info, header, metering)

    async def stop(self) -> None:
        """Give requests in work up."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- SASL tokens without a request around them

    def _submit_token(self, connection: Requester, token: bytes) -> Answer:
        deferred: Deferred[Reply | None] = Deferred()
        task = asyncio.get_running_loop().create_task(self._take_token(connection, token, deferred))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return deferred

    async def _take_token(
        self, connection: Requester, token: bytes, deferred: Deferred[Reply | None]
    ) -> None:
        from dataplane.handlers.sasl_authenticate import bare_token

        answer: bytes | None = None
        try:
            answer = await bare_token(self._broker, connection.info, token)
        except asyncio.CancelledError:
            raise
        except Exception:  # noqa: BLE001 - logged, counted; only this connection is closed
            _log.exception("a SASL token could not be taken")
            self._metrics.failed_requests.inc()
        if answer is None:
            await self._refusal_is_due()
            connection.close_after_answer()
        elif connection.info.authenticated:
            connection.authenticated()
            connection.session_lasts(connection.info.session_lifetime_ms)
        deferred.complete(None if answer is None else [_SIZE.pack(len(answer)) + answer])

    # -- ordinary requests

    def _submit_task(
        self, connection: Requester, context: RequestContext, frame: memoryview
    ) -> Answer:
        header = context.header
        key = ApiKey(header.api_key)
        request_class, response_class = load(key)
        try:
            request, _end = decode(request_class, header.api_version, frame, header.body_position)
        except WireError as error:
            return self._malformed(context, response_class, error)
        deferred: Deferred[Reply | None] = Deferred()
        task = asyncio.get_running_loop().create_task(
            self._run(connection, context, registry.handler(key), request, deferred)
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return deferred

    async def _run(
        self,
        connection: Requester,
        context: RequestContext,
        handler: registry.Handler,
        request: Any,
        deferred: Deferred[Reply | None],
    ) -> None:
        header = context.header
        key = ApiKey(header.api_key)
        loop = asyncio.get_running_loop()
        started_s = loop.time()
        reply: Reply | None = None
        wait_ms = 0
        try:
            response = await self._handle(handler, context, request)
            if key in ENTRIES and response is not None:
                self._audit(context, request, response)
            if response is not None:
                wait_ms = _wait_of(context, response)
                reply = [encode_response_frame(response, header.api_version, header.correlation_id)]
        except Exception:  # noqa: BLE001 - our own answer has no such shape: a bug, said as one
            _log.exception("%s v%d cannot be answered", key.name, header.api_version)
            self._metrics.failed_requests.inc()
            reply = self._error_reply(context, request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
            if reply is None:  # who waits for an answer shall not wait for ever
                connection.close_after_answer()
        if key in _BEFORE_SASL:
            await self._after_sasl(connection, key)
        self._metrics.time_request(API_TABLE[key].name, (loop.time() - started_s) * 1000)
        deferred.complete(reply)
        if wait_ms:
            connection.mute(wait_ms)

    def _audit(self, context: RequestContext, request: Any, response: Any) -> None:
        """What was done is done, and is answered so, whether or not it can be told."""
        try:
            audit(context, request, response)
        except Exception:  # noqa: BLE001 - logged, counted; the answer goes out
            key = ApiKey(context.header.api_key)
            _log.exception("%s cannot be written to the audit log", key.name)
            self._metrics.failed_requests.inc()
            untold(context, response)

    async def _after_sasl(self, connection: Requester, key: ApiKey) -> None:
        """What an answer of the login means for its connection."""
        info = connection.info
        if info.close_after_answer:
            await self._refusal_is_due()
            connection.close_after_answer()
        elif info.authenticated:
            connection.authenticated()
            if key is ApiKey.SASL_AUTHENTICATE and info.sasl is not None and info.sasl.identity:
                connection.session_lasts(info.session_lifetime_ms)

    async def _refusal_is_due(self) -> None:
        """A refused login is answered a little later (KIP-306): guessing shall take its time."""
        config = self._broker.configs.broker_config
        await asyncio.sleep(config.get_int("connection.failed.authentication.delay.ms") / 1000)

    async def _handle(
        self, handler: registry.Handler, context: RequestContext, request: Any
    ) -> Any | None:
        response_class = load(context.header.api_key)[1]
        version = context.header.api_version
        try:
            if context.metering is None:
                return await handler(context, request)
            return await _timed(handler, context.metering, context, request)
        except KafkaError as error:
            code, message = error.code, error.message
        except asyncio.CancelledError:
            raise
        except Exception:  # noqa: BLE001 - answered in shape, logged, counted
            _log.exception("%s failed", ApiKey(context.header.api_key).name)
            self._metrics.failed_requests.inc()
            code, message = ErrorCode.UNKNOWN_SERVER_ERROR, None
        response = error_response(response_class, request, code, message, version=version)
        if response is None:
            raise WireError(f"no shape for {code.name}")
        return response

    # -- hot requests

    def _hot_failed(self, context: RequestContext, frame: memoryview, error: Exception) -> Answer:
        """The answer to a hot request whose handler raised. CloseConnection goes on up."""
        header = context.header
        if isinstance(error, CloseConnection):
            raise error
        request_class, response_class = load(header.api_key)
        if isinstance(error, WireError):
            return self._malformed(context, response_class, error)
        _log.error("%s failed", ApiKey(header.api_key).name, exc_info=error)
        self._metrics.failed_requests.inc()
        request, _end = decode(request_class, header.api_version, frame, header.body_position)
        return self._error_reply(context, request, ErrorCode.UNKNOWN_SERVER_ERROR, None)

    # -- what cannot be served

    def _malformed(self, context: RequestContext, response_class: type, error: WireError) -> Reply:
        self._metrics.malformed_requests.inc()
        header = context.header
        name = ApiKey(header.api_key).name
        host = context.connection.client_host
        self._rate_limited_log.warn(
            host, "malformed %s v%d from %s: %s", name, header.api_version, host, error
        )
        response = error_response(
            response_class,
            None,
            ErrorCode.INVALID_REQUEST,
            str(error),
            version=header.api_version,
        )
        if response is None:
            raise FrameError(f"malformed {name} v{header.api_version}: {error}") from error
        return [encode_response_frame(response, header.api_version, header.correlation_id)]

    def _unsupported(self, context: RequestContext, frame: memoryview) -> Answer:
        """Answer error 35 in the API's shape; ApiVersions answers in version 0 with its range.

        Where there is no shape for it, the error alone: to close the connection, as Kafka does,
        makes clients try again for ever.
        """
        header = context.header
        if header.api_key == ApiKey.API_VERSIONS:
            context.header = header._replace(api_version=0)
            from dataplane.handlers.api_versions import unsupported_version

            return [encode_response_frame(unsupported_version(), 0, header.correlation_id)]
        if header.api_key not in _KNOWN or header.api_version < 0:
            return [encode_unsupported_frame(header.correlation_id)]
        key = ApiKey(header.api_key)
        request: Any | None = None
        request_class, _response_class = load(key)
        if header.version_known:
            try:
                request, _end = decode(
                    request_class, header.api_version, frame, header.body_position
                )
            except WireError as error:
                raise FrameError(f"malformed {key.name}: {error}") from error
        reply = self._error_reply(context, request, ErrorCode.UNSUPPORTED_VERSION, None)
        return [encode_unsupported_frame(header.correlation_id)] if reply is None else reply

    def _error_reply(
        self, context: RequestContext, request: Any | None, code: ErrorCode, message: str | None
    ) -> Reply | None:
        header: RequestHeader = context.header
        key = ApiKey(header.api_key)
        version = min(header.api_version, API_TABLE[key].max_version)
        response = error_response(load(key)[1], request, code, message, version=version)
        if response is None:
            return None
        return [encode_response_frame(response, version, header.correlation_id)]


async def _timed(
    handler: registry.Handler, metering: Metering, context: RequestContext, request: Any
) -> Any:
    """Handle it, and count the time that its own steps have taken."""
    steps = TimedSteps(handler(context, request), asyncio.get_running_loop().time)
    try:
        return await steps
    finally:
        metering.spend(steps.spent_s)


def _wait_of(context: RequestContext, response: Any) -> int:
    """How long its client has to wait behind this answer, which says so."""
    wait_ms: int = getattr(response, "throttle_time_ms", 0)  # the handler's own wait
    metering = context.metering
    if metering is not None:
        metering.spent_before()
        if metering.throttle_ms > wait_ms:
            wait_ms = metering.answered()
            response.throttle_time_ms = wait_ms
    return wait_ms
