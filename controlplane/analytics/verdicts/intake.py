"""Which telemetry records are judged. Who may write to a cluster's telemetry topic, or answers for
its brokers, is not believed: neither may make an array as long as it likes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_analytics.contracts.telemetry import (
    KIND_GROUP,
    KIND_TOPIC,
    SLICE_ARRAYS,
    TELEMETRY_VERSION,
)

_NUMBERS = {KIND_TOPIC: ("retention_ms", "retention_bytes"), KIND_GROUP: ("members",)}
_TEXTS = {KIND_TOPIC: ("topic_id",), KIND_GROUP: ("topic_id", "state")}


def is_sound(record: Mapping[str, Any], cluster_id: str) -> bool:
    """Whether a record that was read back has the shape that the collector gives it, and is of this
    cluster.
    """
    kind = str(record.get("kind"))
    if kind not in SLICE_ARRAYS or record.get("v") != TELEMETRY_VERSION:
        return False
    named = isinstance(record.get("topic"), str) and (
        kind == KIND_TOPIC or isinstance(record.get("group"), str)
    )
    return (
        named
        and record.get("cluster_id") == cluster_id
        and type(record.get("ts_ms")) is int
        and all(_is_number(record.get(name)) for name in _NUMBERS[kind])
        and all(isinstance(record.get(name), str | None) for name in _TEXTS[kind])
        and _numbers(record.get("partition"))
        and all(
            _numbers(record.get(name)) and len(record[name]) == len(record["partition"])
            for name in SLICE_ARRAYS[kind]
        )
    )


def is_dense(record: Mapping[str, Any]) -> bool:
    """Whether its partitions are those from 0 on, each once, as Kafka's are: arrays by partition
    number are as long as the record then.
    """
    partitions = record["partition"]
    return bool(partitions) and sorted(partitions) == list(range(len(partitions)))


def _numbers(values: Any) -> bool:
    return isinstance(values, list) and all(_is_number(value) for value in values)


def _is_number(value: Any) -> bool:
    return value is None or (type(value) is int and abs(value) < 2**63)
