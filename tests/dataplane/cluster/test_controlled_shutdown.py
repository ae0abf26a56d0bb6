"""Who may shut down, and which of its replicas stop."""

from __future__ import annotations

import pytest

from dataplane.cluster.controlled_shutdown import check_shutdown, followers_to_stop, leave
from dataplane.cluster.requests import Stop
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from tests.dataplane.cluster.test_failover import context, p


@pytest.mark.parametrize(
    ("broker", "epoch", "code"),
    [
        (5, 5, None),
        (5, 6, None),  # it has registered again, and the controller has not seen it yet
        (5, -1, None),
        (5, 4, ErrorCode.STALE_BROKER_EPOCH),
        (9, 9, ErrorCode.BROKER_NOT_AVAILABLE),
    ],
)
def test_a_former_life_and_a_stranger_are_refused(broker, epoch, code):
    made = context({5})
    if code is None:
        check_shutdown(made, broker, epoch)
        return
    with pytest.raises(KafkaError) as refusal:
        check_shutdown(made, broker, epoch)
    assert refusal.value.code is code


@pytest.mark.parametrize(("epoch", "refused"), [(5, False), (-1, False), (4, True), (6, True)])
def test_other_requests_name_the_very_life(epoch, refused):
    made = context({5})
    if not refused:
        made.check_broker_epoch(5, epoch)
        return
    with pytest.raises(KafkaError) as refusal:
        made.check_broker_epoch(5, epoch)
    assert refusal.value.code is ErrorCode.STALE_BROKER_EPOCH


def test_leaving_moves_leaders_shrinks_isrs_and_names_what_is_stuck():
    made = context({1, 2}, p(0, 1, (1, 2)), p(1, 2, (2, 1)), p(2, 1, (1,)), p(3, 1, (1, 2), (1,)))
    made.shutting_down.add(1)
    changes, remaining = leave(made, 1)
    assert changes["t", 0].leader == 2
    assert changes["t", 1].isr == (2,)
    assert remaining == [TopicPartition("t", 3)]


def test_followers_stop_and_keep_their_data_leaders_and_deletions_stay():
    made = context({1, 2}, p(0, 1, (1, 2), epoch=4), p(1, 2, (1, 2), epoch=7), p(2, 2, (2,)))
    assert followers_to_stop(made, 1) == [(TopicPartition("t", 1), Stop(7, delete=False))]
    made.topics_to_be_deleted.add("t")
    assert followers_to_stop(made, 1) == []
