"""Who writes to a topic, asked of the leaders of its partitions now.

Only producers with a producer id leave a trace: those with idempotence, which clients have on by
default, or transactions. A partition forgets one after `producer.id.expiration.ms` without a batch.
"""

import time
from dataclasses import dataclass
from typing import Any

from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import gateway_for, seen_gateway
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import NotFound
from controlplane.common.times import iso_of_ms
from controlplane.common.words import counted
from controlplane.gateway.readings import ClusterReader, Gap
from controlplane.gateway.types import TP, TopicDescription, TransactionDescription
from controlplane.topics.producer_rules import (
    Opening,
    Producer,
    Standing,
    States,
    Trace,
    folded,
    openings,
    standing_of,
)
from controlplane.topics.selectors import described_topic

PARTITIONS_ASKED_MAX = 2_000
"""Of one topic: the first."""
PRODUCERS_MAX = 10_000
"""Of one answer: those with open transactions, and who wrote last."""
OPEN_ASKED_MAX = 500
"""Producers with an open transaction of which coordinators are asked."""
SHOWN_MAX = 200
"""Of them on a page."""
TRACES_SHOWN = 100
"""Partitions of one producer, those with an open transaction first."""
PATIENCE_S = 6.0
"""How long brokers that do not answer are waited for, all together."""
SOME_COORDINATORS = "not every coordinator of transactions could be asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    standings: dict[Opening, Standing]
    transactions: list[TransactionDescription]
    gaps: tuple[Gap, ...] = ()


def topic_producers(cluster: Cluster, scope: Scope, name: str) -> dict[str, Any]:
    """{as_of, complete, gaps, partition_count, partitions_known, producers}.

    Raises:
        NotFound: there is no such topic, or the scope does not cover it.
        GatewayError: not even where its partitions are can be read.
    """
    if not scope.sees(Area.TOPIC, cluster.name, name):
        raise NotFound(f"There is no topic {name}.")
    topic = described_topic(seen_gateway(cluster, scope), name)
    asked = [TP(name, part.partition) for part in topic.partitions[:PARTITIONS_ASKED_MAX]]
    # Who ends a transaction is nothing of a topic: all coordinators are asked, and of what they say
    # only how this topic's transactions stand is shown to a reader of a part.
    reader = ClusterReader(gateway_for(cluster), patience_s=PATIENCE_S)
    sees_whole = scope.sees(Area.CLUSTER, cluster.name)
    now_ms = int(time.time() * 1000)
    found = reader.producers(topic, asked)
    judged = _judged(reader, topic, found.known, now_ms)
    producers = folded(found.known, judged.standings, judged.transactions)
    gaps = [gap.reason for gap in found.gaps]
    if judged.gaps:
        gaps += [gap.reason for gap in judged.gaps] if sees_whole else [SOME_COORDINATORS]
    if len(asked) < len(topic.partitions):
        gaps.append(f"only the first {counted(len(asked), 'partition')} were asked")
    if len(producers) > PRODUCERS_MAX:
        gaps.append(f"only {PRODUCERS_MAX} of {len(producers)} producers are shown")
    return {
        "as_of": iso_of_ms(now_ms),
        "complete": not gaps,
        "gaps": list(dict.fromkeys(gaps)),
        "partition_count": len(topic.partitions),
        "partitions_known": len(found.known),
        "producers": [_row(each, sees_whole=sees_whole) for each in producers[:PRODUCERS_MAX]],
    }


def first_producers(cluster: Cluster, scope: Scope, name: str) -> dict[str, Any]:
    """As `topic_producers`, with the first `SHOWN_MAX` of them and `producer_count`."""
    found = topic_producers(cluster, scope, name)
    producers = found["producers"]
    return {**found, "producers": producers[:SHOWN_MAX], "producer_count": len(producers)}


def _judged(reader: ClusterReader, topic: TopicDescription, states: States, now_ms: int) -> _Judged:
    open_now = openings(states)
    if not open_now:
        return _Judged(standings={}, transactions=[])
    ids = sorted({producer_id for _, producer_id, _ in open_now})
    reading = reader.transactions(ids[:OPEN_ASKED_MAX])
    asked, knows_all = set(ids[:OPEN_ASKED_MAX]), not reading.gaps
    standings = {
        opening: standing_of(
            opening, reading.known, knows_all=knows_all and opening[1] in asked, now_ms=now_ms
        )
        for opening in open_now
    }
    gaps = reading.gaps
    if len(ids) > OPEN_ASKED_MAX:
        gaps += (Gap(f"coordinators were asked of {OPEN_ASKED_MAX} producers only"),)
    return _Judged(
        standings=_confirmed(reader, topic, standings),
        transactions=reading.known,
        gaps=gaps,
    )


def _confirmed(
    reader: ClusterReader, topic: TopicDescription, standings: dict[Opening, Standing]
) -> dict[Opening, Standing]:
    """Without those that only seemed to hang, as they were ended between the two questions.

    A coordinator forgets a transaction once its marker is in every partition: one that it does not
    have, and that is still open afterwards, hangs.
    """
    doubted = {opening for opening, each in standings.items() if each is Standing.HANGING}
    if not doubted:
        return standings
    again = reader.producers(topic, {tp for tp, _, _ in doubted})
    still = openings(again.known)
    kept = {opening: each for opening, each in standings.items() if opening not in doubted}
    for opening in doubted:
        if opening in still:
            kept[opening] = Standing.HANGING
        elif opening[0] not in again.known:
            kept[opening] = Standing.UNKNOWN
    return kept


def _row(producer: Producer, *, sees_whole: bool) -> dict[str, Any]:
    return {
        "producer_id": producer.producer_id,
        "epoch": producer.epoch,
        "last_timestamp_ms": producer.last_timestamp_ms,
        "partition_count": len(producer.traces),
        "partitions": [_trace_row(trace) for trace in producer.traces[:TRACES_SHOWN]],
        "transaction": _transaction_row(producer, sees_whole=sees_whole),
    }


def _trace_row(trace: Trace) -> dict[str, Any]:
    state = trace.state
    return {
        "partition": trace.partition,
        "epoch": state.epoch,
        "last_sequence": state.last_sequence,
        "last_timestamp_ms": state.last_timestamp_ms,
        "coordinator_epoch": state.coordinator_epoch,
        "open_since_offset": state.transaction_start if trace.standing is not None else None,
        "standing": trace.standing,
    }


def _transaction_row(producer: Producer, *, sees_whole: bool) -> dict[str, Any] | None:
    """None without an open transaction; its id is seen with a role on the whole cluster."""
    if producer.standing is None:
        return None
    known = producer.transaction
    return {
        "standing": producer.standing,
        "transactional_id": known.transactional_id if known and sees_whole else None,
        "state": known.state if known else None,
        "started_at_ms": known.started_at_ms if known else None,
        "timeout_ms": known.timeout_ms if known else None,
        "partition_count": sum(trace.standing is not None for trace in producer.traces),
    }
