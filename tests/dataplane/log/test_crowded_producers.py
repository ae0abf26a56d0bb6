"""A partition's producers are bounded in number: the longest silent are forgotten first."""

from dataplane.log.producers import producer_state
from dataplane.log.producers.producer_state import ProducerState
from dataplane.log.reading.scan import BatchHead
from dataplane.wire.batch_layout import TRANSACTIONAL_FLAG


def written(state: ProducerState, producer_id: int, *, is_transactional: bool = False) -> None:
    head = BatchHead(
        position=0,
        size=100,
        base_offset=producer_id,
        last_offset=producer_id,
        leader_epoch=0,
        attributes=TRANSACTIONAL_FLAG if is_transactional else 0,
        max_timestamp_ms=1_000 + producer_id,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=0,
        records=1,
    )
    state.record(head, None)


def test_the_longest_silent_make_place_and_open_transactions_stay(monkeypatch):
    monkeypatch.setattr(producer_state, "PRODUCERS_MAX", 10)
    monkeypatch.setattr(producer_state, "CROWDED_OUT_AT_ONCE", 3)
    state = ProducerState(None, "unused")
    written(state, 0, is_transactional=True)
    for producer_id in range(1, 10):
        written(state, producer_id)
    assert state.crowded_out == 0
    written(state, 10)
    assert sorted(state.entries) == [0, 4, 5, 6, 7, 8, 9, 10]
    assert state.crowded_out == 3
    assert state.has_open_transaction(0)
    for producer_id in range(11, 1_000):
        written(state, producer_id)
        assert len(state.entries) <= 10
