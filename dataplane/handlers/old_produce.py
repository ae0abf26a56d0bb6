"""What Produce 0-2 carries: message sets of magic 0 and 1, made into one batch of magic 2.

The work goes by the number of messages and is done at once, between other requests; so it has
bounds that Kafka does not have, far above what the clients of that time put into one set.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dataplane.log.appending.validation import too_large
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.batch_layout import MAGIC_AT, MAGIC_V2
from dataplane.wire.errors import WireError
from dataplane.wire.message_sets import TooManyMessagesError, to_batch
from dataplane.wire.record_batch import BatchHeader

if TYPE_CHECKING:
    from dataplane.broker.metrics import Metrics

MESSAGES_MAX = 50_000
EXPANDED_BYTES_MAX = 16 * 1024 * 1024
SIZE_FACTOR_MAX = 4
"""A set of small messages shrinks when it becomes a batch, to a fourth at most or about that."""


def converted(
    records: memoryview | bytearray, max_message_bytes: int, metrics: Metrics
) -> memoryview | bytearray:
    """The batch of magic 2 that is appended. A batch stays as it is. Raises KafkaError."""
    if len(records) > MAGIC_AT and records[MAGIC_AT] >= MAGIC_V2:
        return records
    if len(records) > SIZE_FACTOR_MAX * max_message_bytes:
        raise too_large(len(records), max_message_bytes)
    now_s = asyncio.get_running_loop().time
    started_s = now_s()
    try:
        batch, claims_append_time = to_batch(
            records, messages_max=MESSAGES_MAX, expanded_bytes_max=EXPANDED_BYTES_MAX
        )
    except TooManyMessagesError as error:
        raise KafkaError(ErrorCode.MESSAGE_TOO_LARGE, str(error)) from error
    except WireError as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, str(error)) from error
    if claims_append_time:
        raise KafkaError(
            ErrorCode.INVALID_TIMESTAMP, "Producers must not set the timestamp type LogAppendTime."
        )
    metrics.conversion_times["Produce"].observe((now_s() - started_s) * 1000)
    metrics.produce_conversions.inc(BatchHeader.parse(batch).record_count)
    return batch
