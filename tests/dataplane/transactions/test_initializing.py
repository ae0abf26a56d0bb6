"""InitProducerId: epochs, recovery, exhaustion, fencing."""

import dataclasses

import pytest

from dataplane.model.errors import ErrorCode as E
from dataplane.transactions.states import TransactionState
from dataplane.transactions.transaction import EPOCH_MAX
from tests.dataplane.transactions.driver import ID, T0, Driver


@pytest.fixture
def driver():
    return Driver()


def exhaust(driver, epoch=EPOCH_MAX - 1, **changes):
    """As after 32,766 producers."""
    found = driver.shard.core.find(ID)
    found.image = dataclasses.replace(found.image, producer_epoch=epoch, **changes)


def test_each_producer_gets_the_next_epoch(driver):
    first, second = driver.init(), driver.init()
    assert (first.error, first.producer_epoch) == (E.NONE, 0)
    assert (second.error, second.producer_epoch) == (E.NONE, 1)
    assert first.producer_id == second.producer_id
    assert driver.state == "Empty"


def test_ids_are_apart(driver):
    assert driver.init(id="a").producer_id != driver.init(id="b").producer_id


@pytest.mark.parametrize(
    ("timeout_ms", "error"),
    [
        (0, E.INVALID_TRANSACTION_TIMEOUT),
        (-1, E.INVALID_TRANSACTION_TIMEOUT),
        (1, E.NONE),
        (900_000, E.NONE),
        (900_001, E.INVALID_TRANSACTION_TIMEOUT),
    ],
)
def test_the_timeout_has_bounds(driver, timeout_ms, error):
    assert driver.init(timeout_ms=timeout_ms).error is error


@pytest.mark.parametrize(("producer_id", "epoch"), [(5, -1), (-1, 5)])
def test_half_a_producer_is_refused(driver, producer_id, epoch):
    assert driver.init(producer_id, epoch).error is E.INVALID_REQUEST


def test_an_empty_id_is_refused(driver):
    assert driver.init(id="").error is E.INVALID_REQUEST


def test_a_producer_bumps_its_own_epoch(driver):
    producer_id, epoch = driver.producer()
    result = driver.init(producer_id, epoch)
    assert (result.producer_id, result.producer_epoch) == (producer_id, epoch + 1)


def test_a_lost_answer_is_given_again(driver):
    producer_id, epoch = driver.producer()
    first, again = driver.init(producer_id, epoch), driver.init(producer_id, epoch)
    assert again == first
    assert driver.init(producer_id, first.producer_epoch).producer_epoch == epoch + 2


def test_a_replaced_producer_is_fenced(driver):
    producer_id, epoch = driver.producer()
    driver.producer()
    assert driver.init(producer_id, epoch).error is E.PRODUCER_FENCED
    assert driver.init(producer_id + 7, epoch + 1).error is E.PRODUCER_FENCED


def test_an_expired_id_begins_again(driver):
    result = driver.init(77, 3)
    assert (result.error, result.producer_epoch) == (E.NONE, 0)
    assert result.producer_id != 77


def test_the_last_epoch_leads_to_another_producer_id(driver):
    producer_id, _ = driver.producer()
    exhaust(driver, EPOCH_MAX - 2)
    assert driver.init().producer_epoch == EPOCH_MAX - 1
    result = driver.init()
    assert result.error is E.NONE
    assert result.producer_id != producer_id
    assert result.producer_epoch == 0
    assert driver.init(producer_id, EPOCH_MAX - 1).error is E.PRODUCER_FENCED


def test_a_producer_that_rotates_may_ask_again(driver):
    producer_id, _ = driver.producer()
    exhaust(driver)
    first = driver.init(producer_id, EPOCH_MAX - 1)
    assert (first.error, first.producer_epoch) == (E.NONE, 0)
    assert first.producer_id != producer_id
    assert driver.init(producer_id, EPOCH_MAX - 1) == first
    assert driver.init(producer_id, 4).error is E.PRODUCER_FENCED


def test_an_exhausted_producer_that_is_not_current_is_fenced(driver):
    producer_id, _ = driver.producer()
    exhaust(driver)
    assert driver.init(producer_id, 7).error is E.PRODUCER_FENCED


def test_an_open_transaction_is_aborted_first(driver):
    producer_id, epoch = driver.producer()
    assert driver.add(producer_id, epoch) is E.NONE
    driver.hold_markers = True
    assert driver.init().error is E.CONCURRENT_TRANSACTIONS
    assert driver.state == "PrepareAbort"
    assert driver.init().error is E.CONCURRENT_TRANSACTIONS
    (markers,) = driver.sending
    assert (markers.producer_epoch, markers.is_commit) == (epoch + 1, False)
    assert markers.partitions == {T0}
    assert driver.end(producer_id, epoch) is E.PRODUCER_FENCED
    driver.write_markers()
    assert driver.state == "CompleteAbort"
    result = driver.init()
    assert (result.error, result.producer_epoch) == (E.NONE, epoch + 2)


def test_a_zombie_does_not_abort_its_successors_transaction(driver):
    producer_id, epoch = driver.producer()
    producer_id, newer = driver.producer()
    driver.add(producer_id, newer)
    assert driver.init(producer_id, epoch).error is E.PRODUCER_FENCED
    assert driver.state == "Ongoing"


def test_fencing_at_the_last_epoch_stays_within_its_type(driver):
    """Whoever may write to an id can guess that epoch; other ids must not suffer for it."""
    producer_id, _ = driver.producer()
    exhaust(driver, EPOCH_MAX, state=TransactionState.ONGOING, start_ms=0)
    assert driver.init().error is E.CONCURRENT_TRANSACTIONS
    assert driver.image.producer_epoch == EPOCH_MAX
    assert driver.init().producer_id != producer_id


def test_two_at_once_are_decided_one_after_the_other(driver):
    driver.hold_writes = True
    first = driver.ask_init()
    assert driver.init().error is E.CONCURRENT_TRANSACTIONS
    assert first not in driver.answers
    driver.commit_writes()
    assert driver.answers[first].producer_epoch == 0


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
        (E.MESSAGE_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
    ],
)
def test_a_refused_write_leaves_nothing(driver, error, said):
    driver.hold_writes = True
    ticket = driver.ask_init()
    driver.fail_writes(error)
    assert driver.answers[ticket].error is said
    assert driver.shard.core.transactions == {}
    driver.hold_writes = False
    assert driver.init().producer_epoch == 0


def test_a_write_of_unknown_fate_holds_the_id_until_it_is_known(driver):
    driver.producer()
    driver.hold_writes = True
    ticket = driver.ask_init()
    driver.fail_writes(E.REQUEST_TIMED_OUT)
    assert driver.answers[ticket].error is E.COORDINATOR_NOT_AVAILABLE
    assert driver.init().error is E.CONCURRENT_TRANSACTIONS
    driver.hold_writes = False
    driver.commit_writes()
    assert driver.image.producer_epoch == 1
    assert driver.init().producer_epoch == 2
