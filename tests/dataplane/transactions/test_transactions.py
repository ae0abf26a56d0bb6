"""Adding, ending, timing out, expiring; what another coordinator makes of the log."""

import pytest

from dataplane.model.errors import ErrorCode as E
from tests.dataplane.transactions.driver import ID, T0, T1, Driver


@pytest.fixture
def driver():
    return Driver()


def test_the_first_partition_begins_a_transaction(driver):
    producer = driver.producer()
    driver.clock.advance(5)
    assert driver.add(*producer, T0) is E.NONE
    started_ms = driver.clock.realtime_ms()
    driver.clock.advance(5)
    assert driver.add(*producer, T1) is E.NONE
    shown = driver.shard.describe(ID)
    assert (shown.state, shown.partitions, shown.start_ms) == ("Ongoing", (T0, T1), started_ms)


def test_adding_again_writes_nothing(driver):
    producer = driver.producer()
    driver.add(*producer, T0, T1)
    before = len(driver.log)
    assert driver.add(*producer, T1) is E.NONE
    assert len(driver.log) == before


@pytest.mark.parametrize("ask", ["add", "end"])
def test_who_may_speak_for_a_transaction(driver, ask):
    producer_id, epoch = driver.producer()
    producer_id, epoch = driver.producer()
    ask = getattr(driver, ask)
    assert ask(producer_id, epoch, id="") is E.INVALID_REQUEST
    assert ask(producer_id, epoch, id="unknown") is E.INVALID_PRODUCER_ID_MAPPING
    assert ask(producer_id + 1, epoch) is E.INVALID_PRODUCER_ID_MAPPING
    assert ask(producer_id, epoch - 1) is E.PRODUCER_FENCED
    assert ask(producer_id, epoch + 1) is E.PRODUCER_FENCED


@pytest.mark.parametrize(("commit", "word"), [(True, "Commit"), (False, "Abort")])
def test_a_decision_is_written_then_sent_then_closed(driver, commit, word):
    producer = driver.producer()
    driver.add(*producer, T0, T1)
    driver.hold_markers = True
    assert driver.end(*producer, commit=commit) is E.NONE
    assert driver.state == f"Prepare{word}"
    (markers,) = driver.sending
    assert markers.is_commit is commit
    assert markers.partitions == {T0, T1}
    assert (markers.producer_id, markers.producer_epoch) == producer
    # the same again, the other, another transaction: none of them now
    assert driver.end(*producer, commit=commit) is E.CONCURRENT_TRANSACTIONS
    assert driver.end(*producer, commit=not commit) is E.INVALID_TXN_STATE
    assert driver.add(*producer) is E.CONCURRENT_TRANSACTIONS
    driver.write_markers()
    assert driver.state == f"Complete{word}"
    assert driver.shard.describe(ID).partitions == ()
    assert driver.end(*producer, commit=commit) is E.NONE
    assert driver.end(*producer, commit=not commit) is E.INVALID_TXN_STATE
    assert driver.add(*producer) is E.NONE
    assert driver.state == "Ongoing"


def test_nothing_to_end(driver):
    producer = driver.producer()
    assert driver.end(*producer) is E.INVALID_TXN_STATE
    assert driver.end(*producer, commit=False) is E.INVALID_TXN_STATE


def test_a_refused_decision_can_be_taken_again(driver):
    producer = driver.producer()
    driver.add(*producer)
    driver.hold_writes = True
    ticket = driver.ask_end(*producer)
    driver.fail_writes(E.NOT_ENOUGH_REPLICAS)
    assert driver.answers[ticket] is E.COORDINATOR_NOT_AVAILABLE
    assert driver.state == "Ongoing"
    driver.hold_writes = False
    assert driver.end(*producer, commit=False) is E.NONE
    assert driver.state == "CompleteAbort"


def test_an_unknown_decision_is_not_taken_the_other_way(driver):
    """The commit may lie in the log: an abort now could be the second decision there."""
    producer = driver.producer()
    driver.add(*producer)
    driver.hold_writes = True
    driver.ask_end(*producer)
    driver.fail_writes(E.REQUEST_TIMED_OUT)
    assert driver.end(*producer, commit=False) is E.CONCURRENT_TRANSACTIONS
    driver.hold_writes = False
    driver.commit_writes()
    assert [markers.is_commit for markers in driver.written] == [True]
    assert driver.state == "CompleteCommit"


def test_a_refused_completion_is_tried_again(driver):
    producer = driver.producer()
    driver.add(*producer)
    driver.hold_markers = True
    driver.end(*producer)
    driver.hold_writes = True
    driver.write_markers()
    driver.fail_writes(E.NOT_ENOUGH_REPLICAS)
    driver.hold_writes = False
    assert driver.state == "PrepareCommit"
    assert driver.shard.ending.retries_waiting == 1
    due_ms = driver.shard.next_deadline_ms()
    driver.take(driver.shard.tick())
    assert driver.state == "PrepareCommit"
    driver.clock.advance(due_ms - driver.clock.monotonic_ms())
    driver.take(driver.shard.tick())
    assert driver.state == "CompleteCommit"
    assert driver.shard.next_deadline_ms() is None


def test_markers_of_an_earlier_transaction_close_nothing(driver):
    """It may be of the same producer and epoch."""
    producer = driver.producer()
    driver.add(*producer)
    driver.hold_markers = True
    driver.end(*producer)
    (late,) = driver.sending
    driver.write_markers()
    driver.add(*producer)
    driver.end(*producer, commit=False)
    driver.take(driver.shard.markers_written(late))
    assert driver.state == "PrepareAbort"


def test_verification(driver):
    producer_id, epoch = driver.producer()
    assert driver.verify(producer_id, epoch, T0) == (E.NONE, {T0: E.TRANSACTION_ABORTABLE})
    driver.add(producer_id, epoch, T0)
    before = list(driver.log)
    assert driver.verify(producer_id, epoch, T0, T1) == (
        E.NONE,
        {T0: E.NONE, T1: E.TRANSACTION_ABORTABLE},
    )
    assert driver.verify(producer_id + 1, epoch, T0) == (E.INVALID_PRODUCER_ID_MAPPING, {})
    assert driver.verify(producer_id, epoch + 1, T0) == (E.PRODUCER_FENCED, {})
    driver.hold_markers = True
    driver.end(producer_id, epoch)
    assert driver.verify(producer_id, epoch, T0) == (E.CONCURRENT_TRANSACTIONS, {})
    driver.write_markers()
    assert driver.verify(producer_id, epoch, T0)[1] == {T0: E.TRANSACTION_ABORTABLE}
    assert driver.log[: len(before)] == before


def test_a_slow_transaction_is_aborted_and_its_producer_fenced(driver):
    producer_id, epoch = driver.init(timeout_ms=1000).producer_id, 0
    driver.add(producer_id, epoch)
    driver.clock.advance(1000)
    driver.take(driver.shard.abort_timed_out())
    assert driver.state == "Ongoing"
    driver.clock.advance(1)
    driver.take(driver.shard.abort_timed_out())
    assert driver.state == "CompleteAbort"
    assert driver.shard.ending.timed_out == 1
    assert driver.written[-1].producer_epoch == epoch + 1
    assert driver.end(producer_id, epoch) is E.PRODUCER_FENCED
    driver.take(driver.shard.abort_timed_out())
    assert driver.shard.ending.timed_out == 1


def test_a_transaction_that_is_just_being_ended_does_not_time_out(driver):
    producer_id = driver.init(timeout_ms=1000).producer_id
    driver.add(producer_id, 0)
    driver.hold_writes = True
    ticket = driver.ask_end(producer_id, 0)
    driver.clock.advance(5000)
    driver.take(driver.shard.abort_timed_out())
    driver.hold_writes = False
    driver.commit_writes()
    assert driver.answers[ticket] is E.NONE
    assert driver.state == "CompleteCommit"


def test_idle_ids_expire(driver):
    driver = Driver(id_expiration_ms=10_000)
    busy = driver.producer()
    driver.add(*busy)
    driver.init(id="idle")
    driver.clock.advance(9_999)
    driver.take(driver.shard.expire())
    assert driver.shard.describe("idle").state == "Empty"
    driver.clock.advance(1)
    driver.take(driver.shard.expire())
    assert driver.shard.describe("idle").error is E.TRANSACTIONAL_ID_NOT_FOUND
    assert driver.log[-1].value is None
    assert driver.state == "Ongoing"
    driver.reload()
    assert driver.shard.describe("idle").error is E.TRANSACTIONAL_ID_NOT_FOUND


def test_an_id_that_is_in_use_again_does_not_expire():
    driver = Driver(id_expiration_ms=10_000)
    driver.producer()
    driver.clock.advance(20_000)
    driver.hold_writes = True
    driver.take(driver.shard.expire())
    assert driver.init().error is E.CONCURRENT_TRANSACTIONS
    driver.fail_writes(E.NOT_ENOUGH_REPLICAS)
    driver.hold_writes = False
    assert driver.init().producer_epoch == 1


def test_expiry_is_no_storm():
    driver = Driver(id_expiration_ms=1, expired_per_round_max=3)
    for number in range(5):
        driver.init(id=f"id-{number}")
    driver.clock.advance(10)
    driver.take(driver.shard.expire())
    assert len(driver.shard.list_transactions()) == 2


@pytest.mark.parametrize("commit", [True, False])
def test_another_coordinator_carries_a_decision_on(driver, commit):
    producer = driver.producer()
    driver.add(*producer, T0)
    driver.hold_markers = True
    driver.end(*producer, commit=commit)
    driver.reload()
    (markers,) = driver.sending
    assert (markers.is_commit, markers.partitions) == (commit, {T0})
    driver.write_markers()
    assert driver.state == ("CompleteCommit" if commit else "CompleteAbort")


def test_another_coordinator_keeps_an_open_transaction_and_its_deadline(driver):
    producer_id = driver.init(timeout_ms=1000).producer_id
    driver.add(producer_id, 0, T0, T1)
    driver.reload()
    assert driver.shard.describe(ID).partitions == (T0, T1)
    driver.clock.advance(1001)
    driver.take(driver.shard.abort_timed_out())
    assert driver.state == "CompleteAbort"


def test_views(driver):
    assert driver.shard.describe("").error is E.INVALID_REQUEST
    assert driver.shard.describe("x").error is E.TRANSACTIONAL_ID_NOT_FOUND
    producer = driver.producer()
    (listed,) = driver.shard.list_transactions()
    assert (listed.transactional_id, listed.state, listed.start_ms) == (ID, "Empty", -1)
    driver.add(*producer)
    (listed,) = driver.shard.list_transactions()
    assert (listed.producer_id, listed.state) == (producer[0], "Ongoing")


def test_after_unloading_nothing_is_left(driver):
    driver.producer()
    driver.shard.unload()
    assert driver.shard.list_transactions() == []
