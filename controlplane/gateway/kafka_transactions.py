"""The half of KafkaGateway about producers and their transactions."""

from collections.abc import Collection
from typing import Any

from kafka.errors import NoError, for_code
from kafka.protocol.admin import (
    DescribeProducersRequest,
    DescribeTransactionsRequest,
    ListTransactionsRequest,
)

from controlplane.gateway.kafka_link import BrokerLink, KafkaLink, check, refusal
from controlplane.gateway.port import BROKER_ANSWER_S
from controlplane.gateway.types import (
    TP,
    PartitionProducers,
    ProducerState,
    TransactionDescription,
)

GONE = frozenset({105})  # TRANSACTIONAL_ID_NOT_FOUND


class KafkaTransactionsMixin:
    _link: KafkaLink | BrokerLink

    def describe_producers(
        self, partitions: Collection[TP], *, broker: int
    ) -> list[PartitionProducers]:
        """The library's own call is not taken: one partition that is refused fails all of it."""
        if not partitions:
            return []
        by_topic: dict[str, list[int]] = {}
        for tp in sorted(partitions):
            by_topic.setdefault(tp.topic, []).append(tp.partition)
        topic = DescribeProducersRequest.TopicRequest
        request = DescribeProducersRequest(
            topics=[
                topic(name=name, partition_indexes=indexes) for name, indexes in by_topic.items()
            ]
        )
        answer = self._sent(request, broker, "describe producers")
        return [
            _partition_producers(TP(topic.name, row.partition_index), row)
            for topic in answer.topics
            for row in topic.partitions
        ]

    def transactions(
        self, producer_ids: Collection[int], *, broker: int
    ) -> list[TransactionDescription]:
        if not producer_ids:
            return []
        what = "list transactions"
        request = ListTransactionsRequest(
            state_filters=[], producer_id_filters=sorted(producer_ids), min_version=0
        )
        listed = self._sent(request, broker, what)
        check(listed.error_code, None, what)
        names = [row.transactional_id for row in listed.transaction_states]
        if not names:
            return []
        what = "describe transactions"
        described = self._sent(DescribeTransactionsRequest(transactional_ids=names), broker, what)
        found = []
        for row in described.transaction_states:
            if row.error_code in GONE:
                continue  # forgotten since it was listed
            check(row.error_code, None, what)
            found.append(_transaction(row))
        return found

    def _sent(self, request: Any, broker: int, what: str) -> Any:
        """What this broker answers, within BROKER_ANSWER_S."""

        def ask(admin: Any) -> Any:
            manager = admin._manager  # noqa: SLF001 - the library's calls ask every broker
            return manager.run(manager.send, request)

        return self._link.at(broker, BROKER_ANSWER_S).call(ask, what=what)


def _partition_producers(tp: TP, row: Any) -> PartitionProducers:
    error = for_code(row.error_code)
    if error is not NoError:
        return PartitionProducers(tp=tp, refused=refusal(error, row.error_message or "").code)
    return PartitionProducers(
        tp=tp,
        producers=tuple(
            ProducerState(
                producer_id=each.producer_id,
                epoch=each.producer_epoch,
                last_sequence=_known(each.last_sequence),
                last_timestamp_ms=_known(each.last_timestamp),
                coordinator_epoch=_known(each.coordinator_epoch),
                transaction_start=_known(each.current_txn_start_offset),
            )
            for each in row.active_producers
        ),
    )


def _transaction(row: Any) -> TransactionDescription:
    return TransactionDescription(
        transactional_id=row.transactional_id,
        state=row.transaction_state,
        producer_id=row.producer_id,
        epoch=row.producer_epoch,
        timeout_ms=row.transaction_timeout_ms,
        started_at_ms=_known(row.transaction_start_time_ms),
        partitions=frozenset(
            TP(topic.topic, number) for topic in row.topics for number in topic.partitions
        ),
    )


def _known(number: int) -> int | None:
    """Kafka says -1 where there is none."""
    return None if number < 0 else number
