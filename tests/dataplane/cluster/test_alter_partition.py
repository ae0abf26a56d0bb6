"""Who may change an ISR, and to what."""

from __future__ import annotations

import uuid

import pytest

from dataplane.cluster.alter_partition import IsrProposal, judge
from dataplane.cluster.context import ControllerContext
from dataplane.cluster.image import BrokerInfo
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState

TP = TopicPartition("t", 0)


@pytest.fixture
def context():
    made = ControllerContext(1, 1)
    made.set_brokers({b: BrokerInfo(b, epoch=100 + b) for b in (1, 2, 3)})
    made.add_topic("t", uuid.uuid4())
    made.put(
        TP,
        PartitionState(
            index=0, leader=1, leader_epoch=5, partition_epoch=7, replicas=(1, 2, 3, 4), isr=(1, 2)
        ),
    )
    return made


def proposal(isr, *, leader_epoch=5, partition_epoch=7, partition=TP, recovery=0):
    isr = isr if isinstance(isr, dict) else dict.fromkeys(isr, -1)
    return IsrProposal(partition, leader_epoch, partition_epoch, isr, recovery)


@pytest.mark.parametrize("isr", [{1: 101}, {1: -1, 2: 102, 3: 103}, {1: 101, 3: -1}])
def test_granted(context, isr):
    verdict = judge(context, 1, proposal(isr))
    assert verdict.isr == tuple(isr)
    assert verdict.leader_epoch == 5


def test_the_same_set_changes_nothing_even_when_asked_late(context):
    assert judge(context, 1, proposal((2, 1), partition_epoch=3)) is context.state(TP)


@pytest.mark.parametrize(
    ("sender", "asked", "code"),
    [
        (1, proposal((1,), leader_epoch=4), ErrorCode.FENCED_LEADER_EPOCH),
        (1, proposal((1,), leader_epoch=6), ErrorCode.NOT_CONTROLLER),
        (1, proposal((1,), partition_epoch=6), ErrorCode.INVALID_UPDATE_VERSION),
        (1, proposal((1,), partition_epoch=8), ErrorCode.NOT_CONTROLLER),
        (2, proposal((2,)), ErrorCode.INVALID_REQUEST),
        (1, proposal(()), ErrorCode.INVALID_REQUEST),
        (1, proposal((2,)), ErrorCode.INVALID_REQUEST),
        (1, proposal((1, 9)), ErrorCode.INVALID_REQUEST),
        (1, proposal((1, 4)), ErrorCode.INELIGIBLE_REPLICA),
        (1, proposal({1: 101, 3: 99}), ErrorCode.INELIGIBLE_REPLICA),
        (1, proposal((1,), recovery=1), ErrorCode.INVALID_REQUEST),
        (1, proposal((1,), partition=TopicPartition("x", 0)), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_refused(context, sender, asked, code):
    assert judge(context, sender, asked) is code


def test_a_broker_that_stops_may_not_join(context):
    context.shutting_down.add(3)
    assert judge(context, 1, proposal((1, 3))) is ErrorCode.INELIGIBLE_REPLICA


def test_a_topic_being_deleted_is_unknown(context):
    context.topics_to_be_deleted.add("t")
    assert judge(context, 1, proposal((1,))) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
