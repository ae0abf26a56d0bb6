"""Leases held by renewal: kept while the holder works, lost to another, in doubt when cut off."""

import threading
import time
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from controlplane.analytics.models import CollectorState
from controlplane.common import lease_keeper, leases
from controlplane.common.lease_keeper import LeaseKeeper, LeaseLostError
from controlplane.common.once_a_minute import OnceAMinute

pytestmark = pytest.mark.django_db(transaction=True)
SHORT = timedelta(seconds=0.6)
PATIENCE_S = 20.0


@pytest.fixture
def rows():
    CollectorState.objects.create(pk="cl_1")
    CollectorState.objects.create(pk="cl_2")
    return CollectorState.objects.all()


@pytest.fixture
def make():
    made = []

    def keeper(**options):
        made.append(LeaseKeeper(**options))
        return made[-1]

    yield keeper
    for each in made:
        each.stop()


def wait_until(holds):
    end_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end_s, "never became true"
        time.sleep(0.01)


def expiry(pk="cl_1"):
    return CollectorState.objects.get(pk=pk).lease_expires_at


def test_it_is_renewed_for_longer_than_it_lasts(rows, make):
    lease = make().claim(rows, "cl_1", SHORT)
    first = expiry()
    wait_until(lambda: expiry() > first + 3 * SHORT)
    lease.check()
    assert leases.claim(rows.filter(pk="cl_1"), SHORT) is None


def test_what_is_dropped_runs_out(rows, make):
    lease = make().claim(rows, "cl_1", SHORT)
    lease.drop()
    wait_until(lambda: leases.claim(rows.filter(pk="cl_1"), SHORT))


def test_what_another_has_taken_is_lost_for_good(rows, make):
    lease = make().claim(rows, "cl_1", SHORT)
    rows.filter(pk="cl_1").update(lease_token="another's")
    wait_until(lambda: lease.is_lost)
    with pytest.raises(LeaseLostError, match="another worker's"):
        lease.check()


def test_many_are_renewed_by_one_statement_and_one_lost_is_not_all(rows, make):
    keeper = make(in_background=False)
    mine, lost = (keeper.claim(rows, pk, SHORT) for pk in ("cl_1", "cl_2"))
    with CaptureQueriesContext(connection) as statements:
        keeper.renew([mine, lost])
    assert len(statements) == 1
    rows.filter(pk="cl_2").update(lease_token="another's")
    keeper.renew([mine, lost])
    mine.check()
    with pytest.raises(LeaseLostError):
        lost.check()


def test_a_process_holds_so_many_and_none_more(rows, make):
    keeper = make(held_max=1)
    first = keeper.claim(rows, "cl_1", SHORT)
    assert keeper.claim(rows, "cl_2", SHORT) is None
    assert expiry("cl_2") is None
    first.drop()
    assert keeper.claim(rows, "cl_2", SHORT)


@pytest.fixture
def database_away(monkeypatch):
    """While it is set, renewals fail as they do without a database."""
    away = threading.Event()
    real = leases.renew

    def renew(*given):
        if away.is_set():
            raise OperationalError("the database is away")
        return real(*given)

    monkeypatch.setattr(leases, "renew", renew)
    return away


def test_cut_off_from_the_database_nothing_is_begun_any_more(rows, make, database_away):
    lease = make().claim(rows, "cl_1", SHORT)
    lease.check()
    database_away.set()
    wait_until(lambda: _raises(lease.check, "not be renewed in time"))
    assert not lease.is_lost, "it is in doubt, not lost"


def test_a_database_that_comes_back_before_another_took_it_gives_it_back(rows, make, database_away):
    lease = make().claim(rows, "cl_1", SHORT)
    database_away.set()
    wait_until(lambda: _raises(lease.check, "in time"))
    database_away.clear()
    wait_until(lambda: not _raises(lease.check, "in time"))


def test_it_never_lasts_longer_here_than_in_the_database(rows, make, monkeypatch):
    """The statement that takes it is slow to answer: the lease counts from before it was sent."""
    real = leases.claim

    def slow(*given, **also):
        token = real(*given, **also)
        time.sleep(2 * SHORT.total_seconds())
        return token

    monkeypatch.setattr(leases, "claim", slow)
    keeper = make(in_background=False)
    lease = keeper.claim(rows, "cl_1", SHORT)
    assert lease.held_until_s < lease_keeper.elapsed_s()


def test_who_rests_waits_for_a_renewal_under_way_and_gets_no_more(rows, make, monkeypatch):
    """A transaction that locks the row may begin then: no renewal waits for it."""
    real = leases.renew
    is_under_way, may_end = threading.Event(), threading.Event()

    def slow(*given):
        is_under_way.set()
        assert may_end.wait(PATIENCE_S)
        return real(*given)

    lease = make().claim(rows, "cl_1", timedelta(seconds=PATIENCE_S))
    monkeypatch.setattr(leases, "renew", slow)
    lease.held_until_s = 0.0
    asking = threading.Thread(target=lambda: _raises(lease.check, ""))
    asking.start()
    assert is_under_way.wait(PATIENCE_S)
    resting = threading.Thread(target=lease.rest)
    resting.start()
    assert resting.is_alive()
    may_end.set()
    resting.join(PATIENCE_S)
    asking.join(PATIENCE_S)
    assert not resting.is_alive()
    is_under_way.clear()
    lease.rest()  # nothing is under way now, so it does not wait
    assert not is_under_way.is_set()


def test_a_locked_row_is_nobody_s_to_take(rows):
    """On SQLite no row is ever locked: there it is as any claim."""
    assert leases.claim(rows.filter(pk="cl_1"), SHORT, skips_locked=True, slices=3)
    assert leases.claim(rows.filter(pk="cl_1"), SHORT, skips_locked=True, slices=4) is None
    assert rows.get(pk="cl_1").slices == 3
    assert expiry("cl_2") is None


def _raises(call, words):
    try:
        call()
    except LeaseLostError as error:
        return words in str(error)
    return False


def test_a_database_that_is_away_costs_a_line_a_minute(rows, make, monkeypatch, caplog):
    keeper = make(in_background=False)
    lease = keeper.claim(rows, "cl_1", SHORT)

    def fails(*_):
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(lease_keeper, "SAID", OnceAMinute(None))
    monkeypatch.setattr(lease_keeper.leases, "renew", fails)
    for _ in range(20):
        assert keeper.renew([lease]) is False
    assert [row.getMessage() for row in caplog.records] == [
        "1 leases are not renewed: the connection is lost"
    ]
