"""What Fetch 0-3 is answered with: message sets of magic 0 (versions 0 and 1) or 1 (2 and 3).

Batches are read and converted in memory when the answer is due, so one answer has a bound much
below that of other fetches. Fetches before version 3 know no limit of the whole answer and always
name their partitions in one order: each begins with another one, lest the first take all of it.
Refused: topics with `message.downconversion.enable=false` (UNSUPPORTED_VERSION), batches compressed
with zstd (UNSUPPORTED_COMPRESSION_TYPE).
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from dataplane.handlers.delayed_fetch import DelayedFetch
from dataplane.handlers.fetch_partitions import FetchPartitions
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.errors import WireError
from dataplane.wire.fetch_codec import FetchedPartition, parse_fetch
from dataplane.wire.message_sets import ZstdError, from_batches
from dataplane.wire.record_batch import iter_batches

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.handlers.fetch_partitions import FetchEntry
    from dataplane.wire.fetch_codec import FetchParts

_log = logging.getLogger(__name__)

BYTES_MAX = 1024 * 1024
"""Of the batches that one answer converts; a larger first batch comes alone."""
READS_MAX = 16
"""How often it is read on where there is nothing that the old formats can say."""
_MAGIC_1_FROM = 2
_LIMITED_FROM = 3


def handle_frame(context: RequestContext, frame: memoryview, position: int) -> Any:
    """The answer to a Fetch of a version before 4, as `fetch.handle_frame`."""
    version = context.header.api_version
    request = parse_fetch(version, frame, position)
    turn = context.header.correlation_id if version < _LIMITED_FROM else 0
    request = _bounded(request, turn)
    session = context.broker.replica_manager.fetch_sessions.open(request, version)
    partitions = FetchPartitions(context, request)
    partitions.resolve(session.asked)
    for entry in partitions.entries:
        if entry.partition is not None and not _may_convert(context, entry.topic):
            entry.partition = None
            entry.error = KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    context.connection.fetch_route = None
    return OldFetch(context, session, partitions).start()


def _bounded(request: FetchParts, turn: int) -> FetchParts:
    topics = [(key, turned(wanted, turn)) for key, wanted in turned(request.topics, turn)]
    return request._replace(max_bytes=min(request.max_bytes, BYTES_MAX), topics=topics)


def turned(items: list[Any], turn: int) -> list[Any]:
    """The items in their order, from another one on for every turn."""
    first = turn % len(items) if items else 0
    return items[first:] + items[:first]


def _may_convert(context: RequestContext, topic: str) -> bool:
    return context.broker.configs.topic_config(topic).get_bool("message.downconversion.enable")


class OldFetch(DelayedFetch):
    """A Fetch whose answer holds message sets."""

    __slots__ = ()

    def _encode_read(
        self, results: list[FetchedPartition], size: int, *, failed: bool
    ) -> list[Any]:
        now_s = asyncio.get_running_loop().time
        started_s = now_s()
        converted = [
            result if result.records is None else self._converted(entry, result)
            for entry, result in zip(self._partitions.entries, results, strict=True)
        ]
        if size:
            took_ms = (now_s() - started_s) * 1000
            self._context.broker.metrics.conversion_times["Fetch"].observe(took_ms)
        failed = failed or any(result.error_code for result in converted)
        return super()._encode_read(converted, size, failed=failed)

    def _converted(self, entry: FetchEntry, result: FetchedPartition) -> FetchedPartition:
        try:
            messages = self._messages(entry, result)
        except ZstdError:
            return _refusal(result, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        except WireError:
            _log.exception("converting %s-%d", entry.topic, result.partition)
            return _refusal(result, ErrorCode.CORRUPT_MESSAGE)
        except OSError:
            _log.exception("reading %s-%d", entry.topic, result.partition)
            return _refusal(result, ErrorCode.KAFKA_STORAGE_ERROR)
        return result._replace(records=messages or None)

    def _messages(self, entry: FetchEntry, result: FetchedPartition) -> bytearray:
        """What is there for the old formats; of markers alone a client would never get past."""
        magic = 1 if self._context.header.api_version >= _MAGIC_1_FROM else 0
        wanted, partition = entry.wanted, entry.partition
        data: bytes = result.records.read()  # type: ignore[union-attr]  # always a log slice here
        for _ in range(READS_MAX):
            messages = from_batches(
                data, magic, from_offset=wanted.fetch_offset, bytes_max=max(0, wanted.max_bytes)
            )
            behind = -1
            for _, header in iter_batches(data):
                behind = max(behind, header.next_offset)
                self._context.broker.metrics.fetch_conversions.inc(header.record_count)
            if messages or partition is None or not 0 <= behind < result.high_watermark:
                return messages
            data = partition.log.read(
                behind, BYTES_MAX, result.high_watermark, min_one_batch=True
            ).read()
        return bytearray()


def _refusal(result: FetchedPartition, code: ErrorCode) -> FetchedPartition:
    return FetchedPartition(result.partition, code, result.high_watermark)
