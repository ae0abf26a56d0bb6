"""Where a new topic's replicas go: Kafka's own rule (AdminUtils), rack-aware when racks are known.

Without racks: leaders go round robin from a chosen start; followers follow at a shift that grows
each time the leaders have been once around, so that a broker's followers spread over the others.
With racks: the same on an order that alternates racks, and a partition's replicas go to different
racks (and brokers) until every rack has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dataplane.model.errors import ErrorCode, KafkaError


def place(
    brokers: Mapping[int, str | None],
    partitions: int,
    replication_factor: int,
    *,
    start_index: int,
    start_shift: int,
    first_partition: int = 0,
) -> list[tuple[int, ...]]:
    """Assignments of `partitions` partitions from `first_partition` on.

    `brokers` maps live broker ids to their rack, or None. `start_index` is the place of the first
    leader and `start_shift` the first shift of the followers; the caller draws both at random.

    Raises KafkaError: INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR.
    """
    if partitions <= 0:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS, "Number of partitions must be larger than 0."
        )
    if replication_factor <= 0:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0."
        )
    if replication_factor > len(brokers):
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Replication factor: {replication_factor} larger than available brokers: "
            f"{len(brokers)}.",
        )
    racks = {broker: rack for broker, rack in brokers.items() if rack is not None}
    numbers = range(first_partition, first_partition + partitions)
    seed = (start_index, start_shift)
    if len(racks) == len(brokers):
        return _rack_aware(racks, numbers, replication_factor, seed)
    return _rack_unaware(sorted(brokers), numbers, replication_factor, seed)


def _replica_index(first: int, shift: int, nth: int, count: int) -> int:
    return (first + 1 + (shift + nth) % (count - 1)) % count


def _rack_unaware(
    order: Sequence[int],
    numbers: range,
    replication_factor: int,
    seed: tuple[int, int],
) -> list[tuple[int, ...]]:
    count = len(order)
    start_index, shift = seed
    result = []
    for partition in numbers:
        if partition > 0 and partition % count == 0:
            shift += 1
        first = (partition + start_index) % count
        followers = (
            order[_replica_index(first, shift, nth, count)] for nth in range(replication_factor - 1)
        )
        result.append((order[first], *followers))
    return result


def alternate_racks(racks: Mapping[int, str]) -> list[int]:
    """Broker ids so ordered that neighbours are in different racks as far as possible."""
    by_rack: dict[str, list[int]] = {}
    for broker in sorted(racks):
        by_rack.setdefault(racks[broker], []).append(broker)
    queues: Sequence[list[int]] = [by_rack[rack] for rack in sorted(by_rack)]
    result: list[int] = []
    depth = 0
    while len(result) < len(racks):
        result.extend(queue[depth] for queue in queues if depth < len(queue))
        depth += 1
    return result


def _rack_aware(
    racks: Mapping[int, str],
    numbers: range,
    replication_factor: int,
    seed: tuple[int, int],
) -> list[tuple[int, ...]]:
    order = alternate_racks(racks)
    rack_count = len(set(racks.values()))
    count = len(order)
    start_index, shift = seed
    result = []
    for partition in numbers:
        if partition > 0 and partition % count == 0:
            shift += 1
        first = (partition + start_index) % count
        chosen = [order[first]]
        used_racks = {racks[order[first]]}
        nth = 0
        while len(chosen) < replication_factor:
            # The shift is a multiple of the racks, so that the walk alternates racks again.
            broker = order[_replica_index(first, shift * rack_count, nth, count)]
            nth += 1
            rack_is_new = racks[broker] not in used_racks or len(used_racks) == rack_count
            if rack_is_new and broker not in chosen:
                chosen.append(broker)
                used_racks.add(racks[broker])
        result.append(tuple(chosen))
    return result
