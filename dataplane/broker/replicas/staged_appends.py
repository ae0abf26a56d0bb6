"""The partitions of a broker that have staged batches, which are written together.

Produce requests that arrive in one read of a socket stage their batches; before anything is
answered, or another request is looked at, each partition appends its own by one system call.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.replicas.partition import Partition

_log = logging.getLogger(__name__)


class StagedAnswer:
    """The answer to a request whose batches are staged.

    `timing` is what the answer goes through when it is finished, if its time is taken.
    """

    __slots__ = ("timing",)

    def __init__(self) -> None:
        self.timing: Callable[[Any], Any] | None = None

    def finish(self) -> Any:
        """Commit what is staged anywhere, if that has not been done; the answer itself."""
        raise NotImplementedError


class StagedAppends:
    """Nothing is staged any more when control goes back to the event loop."""

    __slots__ = ("_refusals", "partitions")

    def __init__(self) -> None:
        self.partitions: dict[Partition, None] = {}
        self._refusals: dict[Partition, KafkaError] = {}

    def commit(self) -> None:
        """Append what is staged anywhere; `refusal_of` says why a log's end did not move."""
        partitions = self.partitions
        if not partitions:
            return
        self.partitions = {}
        if self._refusals:
            self._refusals = {}
        for partition in partitions:
            try:
                partition.commit()
            except KafkaError as error:
                self._refusals[partition] = error
            except Exception:  # noqa: BLE001 - the others' batches are not its fault
                _log.exception("appending to %s", partition.topic_partition)
                self._refusals[partition] = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)

    def refusal_of(self, partition: Partition) -> KafkaError:
        """Why the last `commit` left out a batch of `partition`."""
        return self._refusals.get(partition) or KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
