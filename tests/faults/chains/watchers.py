"""Watch one broker each, by raw requests: stable offsets, open transactions, committed offsets."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from dataplane.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from dataplane.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from dataplane.wire.messages.list_transactions import ListTransactionsRequest
from dataplane.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.conformance.raw_client import ask
from tests.faults.chains.history import End, Look, OffsetSeen

ANSWER_S = 3.0
"""A paused broker costs a watcher this long, then it connects again."""
PAUSE_S = 0.1
LATEST = -1
READ_COMMITTED, READ_UNCOMMITTED = 1, 0
Key = tuple[str, int]


class Asked:
    """One connection to one broker. OSError when it does not answer."""

    def __init__(self, address: str) -> None:
        host, port = address.split(":")
        self._socket = socket.create_connection((host, int(port)), timeout=ANSWER_S)

    def close(self) -> None:
        self._socket.close()

    def ask(self, request: Any, version: int) -> Any:
        answer = ask(self._socket, request, version)
        if answer is None:
            raise ConnectionError("closed by the broker")
        return answer

    def ends(self, topics: Sequence[Key], isolation: int) -> dict[Key, int]:
        """The end of each partition that this broker leads, for that isolation level."""
        asked = [
            ListOffsetsTopic(
                name=name,
                partitions=[ListOffsetsPartition(partition_index=partition, timestamp=LATEST)],
            )
            for name, partition in topics
        ]
        answer = self.ask(
            ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=asked), 7
        )
        return {
            (topic.name, each.partition_index): each.offset
            for topic in answer.topics
            for each in topic.partitions
            if not each.error_code
        }

    def open_transactions(self, topics: Sequence[Key]) -> dict[Key, frozenset[tuple[int, int]]]:
        """(producer id, first offset) of what is open in each partition that this broker leads."""
        asked = [
            TopicRequest(name=name, partition_indexes=[partition]) for name, partition in topics
        ]
        answer = self.ask(DescribeProducersRequest(topics=asked), 0)
        return {
            (topic.name, each.partition_index): frozenset(
                (one.producer_id, one.current_txn_start_offset)
                for one in each.active_producers
                if one.current_txn_start_offset >= 0
            )
            for topic in answer.topics
            for each in topic.partitions
            if not each.error_code
        }

    def committed(
        self, groups: Sequence[str], topic: str, partitions: int, *, stable: bool
    ) -> dict[Key, int]:
        """By group and partition, of the groups that this broker coordinates."""
        wanted = [OffsetFetchRequestTopics(name=topic, partition_indexes=list(range(partitions)))]
        asked = [OffsetFetchRequestGroup(group_id=group, topics=wanted) for group in groups]
        answer = self.ask(OffsetFetchRequest(groups=asked, require_stable=stable), 8)
        return {
            (group.group_id, each.partition_index): each.committed_offset
            for group in answer.groups
            if not group.error_code
            for found in group.topics
            for each in found.partitions
            if not each.error_code and each.committed_offset >= 0
        }

    def transactions(self) -> dict[str, str]:
        """States of the transactional ids that this broker coordinates. OSError while it loads."""
        answer = self.ask(ListTransactionsRequest(), 0)
        if answer.error_code:
            raise ConnectionError(f"ListTransactions: error {answer.error_code}")
        return {each.transactional_id: each.transaction_state for each in answer.transaction_states}


@contextlib.contextmanager
def asking(address: str) -> Iterator[Asked]:
    asked = Asked(address)
    try:
        yield asked
    finally:
        asked.close()


class Watcher:
    """Looks at one broker again and again, from a thread of its own; what fails is left out."""

    def __init__(
        self,
        broker: int,
        address: str,
        *,
        outputs: Sequence[Key],
        groups: Sequence[str],
        feed: str,
        partitions: int,
    ) -> None:
        self.looks: list[Look] = []
        self.offsets: list[OffsetSeen] = []
        self._broker, self._address = broker, address
        self._outputs, self._groups = outputs, groups
        self._feed, self._partitions = feed, partitions
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"watcher-{broker}")
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(OSError), asking(self._address) as asked:
                while not self._stopped.wait(PAUSE_S):
                    self._look_at_stable(asked)
                    self._look_at_committed(asked, requires_stable=True)
                    self._look_at_committed(asked, requires_stable=False)
            self._stopped.wait(PAUSE_S)

    def _look_at_stable(self, asked: Asked) -> None:
        before = asked.open_transactions(self._outputs)
        from_s = time.monotonic()
        stable = asked.ends(self._outputs, READ_COMMITTED)
        to_s = time.monotonic()
        after = asked.open_transactions(self._outputs)
        for (topic, partition), offset in stable.items():
            key = (topic, partition)
            known = (before.get(key, frozenset()), offset, after.get(key, frozenset()))
            self.looks.append(Look(self._broker, topic, partition, *known, from_s, to_s))

    def _look_at_committed(self, asked: Asked, *, requires_stable: bool) -> None:
        from_s = time.monotonic()
        found = asked.committed(self._groups, self._feed, self._partitions, stable=requires_stable)
        to_s = time.monotonic()
        for (group, partition), offset in found.items():
            self.offsets.append(
                OffsetSeen(group, partition, offset, self._broker, requires_stable, from_s, to_s)
            )


def ends_of(asked: Asked, topics: Sequence[Key]) -> list[End]:
    """How the partitions stand that this broker leads."""
    stable = asked.ends(topics, READ_COMMITTED)
    marks = asked.ends(topics, READ_UNCOMMITTED)
    open_now = asked.open_transactions(topics)
    return [
        End(*key, stable[key], marks[key], tuple(sorted(start for _, start in open_now[key])))
        for key in topics
        if key in stable and key in marks and key in open_now
    ]
