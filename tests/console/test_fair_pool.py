"""Nobody holds more threads of the pages' pool than a share, whatever does not answer."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from console.fair_pool import WAITING_MAX, FairPool
from console.parts import Part, PartRunner
from controlplane.common.problems import Unavailable
from tests.waiting import wait_until

SHARE, THREADS = 2, 4


@pytest.fixture
def let_go():
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def pool(let_go):
    with ThreadPoolExecutor(THREADS) as threads:
        yield FairPool(threads, lambda: SHARE)
        let_go.set()


def test_one_owner_holds_its_share_and_another_goes_on(pool, let_go):
    inside = []

    def silent(number):
        inside.append(number)
        let_go.wait(10)
        return number

    held = [pool.submit("one", lambda number=number: silent(number)) for number in range(6)]
    wait_until(lambda: len(inside) == SHARE)
    assert [pool.submit("two", lambda: "here").result(10) for _ in range(5)] == ["here"] * 5
    assert len(inside) == SHARE
    let_go.set()
    assert [each.result(10) for each in held] == list(range(6)), "in order, none lost"
    assert pool.submit("one", lambda: "again").result(10) == "again"


def test_what_breaks_gives_its_thread_to_the_next(pool, let_go):
    def held():
        let_go.wait(10)

    def broken():
        raise ZeroDivisionError

    first = [pool.submit("one", held) for _ in range(SHARE)]
    waiting = [pool.submit("one", broken) for _ in range(3)]
    last = pool.submit("one", lambda: "last")
    assert not last.done()
    let_go.set()
    for each in waiting:
        with pytest.raises(ZeroDivisionError):
            each.result(10)
    assert last.result(10) == "last"
    assert all(each.result(10) is None for each in first)


def test_what_waits_has_a_bound(pool, let_go):
    for _ in range(SHARE + WAITING_MAX):
        pool.submit("one", lambda: let_go.wait(10))
    with pytest.raises(Unavailable) as caught:
        pool.submit("one", lambda: 1)
    assert caught.value.code == "too-busy"
    assert pool.submit("two", lambda: 2).result(10) == 2


def test_pages_of_one_tenants_silent_clusters_leave_threads_to_others(
    monkeypatch, settings, let_go
):
    monkeypatch.setattr("console.parts.close_old_connections", lambda: None)
    settings.PAGE_PARTS_PER_TENANT = SHARE
    inside = []

    def silent():
        inside.append(1)
        let_go.wait(10)

    with ThreadPoolExecutor(THREADS) as threads:
        runner = PartRunner(pool=threads)
        parts = {f"part-{n}": Part(silent, remote=True, deadline_s=0.05) for n in range(8)}
        answer = runner.run("tn_a/cluster", parts)
        assert {part["status"] for part in answer.values()} == {"unavailable"}
        assert len(inside) == SHARE
        other = runner.run("tn_b/cluster", {"part": Part(lambda: 7, remote=True)})["part"]
        assert (other["status"], other["data"]) == ("ok", 7)
        let_go.set()
