"""Offline replicas are asked for ever more rarely, and soon after something has changed."""

from __future__ import annotations

import itertools

from dataplane.cluster.offline_replicas import OfflineReplicaRetries, questions
from dataplane.model.ids import TopicPartition
from tests.dataplane.cluster.test_failover import context, p


def asked_at_ms(retries, start_ms, seconds):
    times = (start_ms + second * 1_000 for second in range(seconds))
    return [now_ms for now_ms in times if retries.is_due(now_ms)]


def test_the_gaps_double_up_to_a_minute():
    retries = OfflineReplicaRetries()
    retries.reset()
    times = asked_at_ms(retries, 5_000, 300)
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert times[0] == 5_000
    assert gaps == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]


def test_a_change_begins_the_gaps_again_after_the_question_that_is_due():
    retries = OfflineReplicaRetries()
    retries.reset()
    last_ms = asked_at_ms(retries, 0, 100)[-1]
    retries.reset()
    assert not retries.is_due(last_ms + 59_000)
    again = asked_at_ms(retries, last_ms + 60_000, 10)
    assert [at - again[0] for at in again] == [0, 1_000, 3_000, 7_000]


def test_topics_under_deletion_are_asked_for_by_their_deletion():
    made = context({1, 2}, p(0, 1, (1, 2)), p(1, 1, (1, 2)))
    made.replicas_answered(2, [TopicPartition("t", 1), TopicPartition("t", 0)], ())
    made.replicas_answered(1, [TopicPartition("t", 1)], ())
    assert questions(made) == (
        [(TopicPartition("t", 1), 1), (TopicPartition("t", 0), 2), (TopicPartition("t", 1), 2)],
        [],
    )
    made.topics_to_be_deleted.add("t")
    assert questions(made) == ([], ["t"])
