"""Each partition's outcome of an election that somebody asks for."""

from __future__ import annotations

from dataplane.cluster.election import RECOVERING, ElectionType
from dataplane.cluster.requested_election import elect_requested
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from tests.dataplane.cluster.test_failover import context, p


def codes(results):
    return {tp.partition: error and error.code for tp, error in results.items()}


def tps(*indexes):
    return [TopicPartition("t", index) for index in indexes]


def test_preferred_leaders_are_elected_where_they_can_lead():
    made = context({1, 2}, p(0, 2, (1, 2)), p(1, 1, (1, 2)), p(2, 1, (3, 1)), p(3, 1, (2, 1), (1,)))
    changes, results = elect_requested(made, ElectionType.PREFERRED, tps(0, 1, 2, 3, 9))
    assert codes(results) == {
        0: None,
        1: ErrorCode.ELECTION_NOT_NEEDED,
        2: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
        3: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
        9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert {tp.partition: state.leader for tp, state in changes.items()} == {0: 1}
    assert changes["t", 0].leader_epoch == 1


def test_unclean_elections_only_where_nobody_leads():
    made = context({1, 2}, p(0, 1, (1, 2)), p(1, -1, (3, 2), (3,)), p(2, -1, (3,)))
    changes, results = elect_requested(made, ElectionType.UNCLEAN, tps(0, 1, 2))
    assert codes(results) == {
        0: ErrorCode.ELECTION_NOT_NEEDED,
        1: None,
        2: ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
    }
    elected = changes["t", 1]
    assert (elected.leader, elected.isr, elected.leader_recovery_state) == (2, (2,), RECOVERING)


def test_asking_for_all_leaves_out_those_that_need_none():
    made = context({1, 2}, p(0, 2, (1, 2)), p(1, 1, (1, 2)), p(2, 1, (3, 1)))
    _changes, results = elect_requested(made, ElectionType.PREFERRED, None)
    assert codes(results) == {0: None, 2: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}


def test_a_topic_under_deletion_is_unknown():
    made = context({1, 2}, p(0, 2, (1, 2)))
    made.topics_to_be_deleted.add("t")
    changes, results = elect_requested(made, ElectionType.PREFERRED, tps(0))
    assert (changes, codes(results)) == ({}, {0: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})
