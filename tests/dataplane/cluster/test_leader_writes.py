"""When a leader may write its ISR itself, and how."""

from __future__ import annotations

import dataclasses
import uuid

import pytest

from dataplane.cluster import znodes
from dataplane.cluster.image import ZERO_UUID
from dataplane.cluster.leader_writes import (
    PARTITIONS_PER_MULTI,
    OwnIsr,
    TopicFound,
    Verdict,
    judge,
    multis,
)
from dataplane.cluster.writes import BYTES_PER_MULTI, OPS_PER_MULTI
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.ports.coordinator import Check, Create, SetData

TP = TopicPartition("t", 0)
TOPIC_ID = uuid.uuid4()
ME = 1
WANTED = OwnIsr(TP, TOPIC_ID, leader_epoch=5, partition_epoch=7, isr=(1, 2))
STATE = PartitionState(
    index=0,
    leader=ME,
    leader_epoch=5,
    partition_epoch=7,
    controller_epoch=3,
    replicas=(1, 2, 3),
    isr=(1, 2, 3),
)


def topic(topic_id=TOPIC_ID, version=4):
    return TopicFound(znodes.TopicNode(topic_id=topic_id, replicas={0: (1, 2, 3)}), version)


def state(**changed):
    return dataclasses.replace(STATE, **changed)


def test_the_version_that_the_leader_knows_is_written_once():
    verdict, written = judge(WANTED, ME, topic(), STATE)
    assert verdict is Verdict.WRITE
    assert written == state(isr=(1, 2), partition_epoch=8)
    ((partitions, ops),) = multis({TP: written}, {"t": topic()})
    assert partitions == [TP]
    assert ops == [
        Check("/brokers/topics/t", 4),
        SetData("/brokers/topics/t/partitions/0/state", znodes.encode_state(written), 7),
        Create(
            "/isr_change_notification/isr_change_",
            b'{"version":1,"partitions":[{"topic":"t","partition":0}]}',
            sequential=True,
        ),
    ]
    assert znodes.decode_isr_changes(ops[-1].data) == [("t", 0)]


def test_what_was_written_since_is_taken():
    granted = state(isr=(1, 2), partition_epoch=8)
    assert judge(WANTED, ME, topic(), granted) == (Verdict.KNOWN, granted)


@pytest.mark.parametrize("leader", [ME, 2, -1])
def test_a_later_epoch_is_taken_whoever_leads(leader):
    later = state(leader=leader, leader_epoch=6, partition_epoch=8)
    assert judge(WANTED, ME, topic(), later) == (Verdict.SUPERSEDED, later)


@pytest.mark.parametrize(
    ("found", "known"),
    [
        (None, STATE),
        (topic(), None),
        (topic(uuid.uuid4()), STATE),  # deleted, and made again under the same name
        (topic(None), STATE),
        (topic(), state(leader_epoch=4)),  # a server that is behind
        (topic(), state(partition_epoch=6)),
        (topic(), state(leader=2)),
        (topic(), state(isr=(1, 3))),  # nobody is let in
    ],
)
def test_nothing_is_written_in_doubt(found, known):
    assert judge(WANTED, ME, found, known) == (Verdict.WAIT, None)


def test_a_topic_without_an_id_is_known_by_its_name():
    wanted = dataclasses.replace(WANTED, topic_id=ZERO_UUID)
    assert judge(wanted, ME, topic(None), STATE)[0] is Verdict.WRITE


def test_multis_are_bounded():
    names = [f"{n:03}" + "t" * 240 for n in range(2 * PARTITIONS_PER_MULTI + 1)]
    writes = {TopicPartition(name, 0): state(partition_epoch=8) for name in names}
    made = list(multis(writes, dict.fromkeys(names, topic())))
    assert [len(part) for part, _ in made] == [PARTITIONS_PER_MULTI, PARTITIONS_PER_MULTI, 1]
    assert sorted(p for part, _ in made for p in part) == sorted(writes)
    for _, ops in made:
        assert len(ops) <= OPS_PER_MULTI
        assert sum(len(op.path) + len(getattr(op, "data", b"")) for op in ops) < BYTES_PER_MULTI
