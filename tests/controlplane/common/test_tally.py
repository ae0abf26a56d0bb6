"""Counters of many processes as one, and what happens to them without Redis."""

import threading

import pytest
from redis.exceptions import RedisError

from controlplane.common import tally
from controlplane.common.redis_link import LINK, RedisLink
from controlplane.common.tally import DROPPED, Tally


def test_what_processes_add_is_one_sum(redis_server):
    processes = [Tally(RedisLink(redis_server.url)) for _ in range(4)]

    def count(each):
        for _ in range(50):
            each.add("calls", cluster="kc_1", outcome="ok")
            each.flush()

    threads = [threading.Thread(target=count, args=(each,)) for each in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    processes[0].add("calls", 0.5, outcome="refused", cluster="kc_1")
    processes[0].flush()
    assert processes[3].read() == {
        ("calls", (("cluster", "kc_1"), ("outcome", "ok"))): 200,
        ("calls", (("cluster", "kc_1"), ("outcome", "refused"))): 0.5,
    }


def test_counts_wait_while_redis_is_away_and_arrive_afterwards(redis_server):
    made = Tally(LINK)
    redis_server.kill()
    made.add("calls")
    assert made.flush() is False
    made.add("calls")
    with pytest.raises(RedisError):
        made.read()
    redis_server.start()
    LINK.ask_again()
    assert made.flush() is True
    assert made.read() == {("calls", ()): 2}


def test_series_that_wait_have_a_bound_and_what_is_lost_is_counted(monkeypatch, redis_server):
    monkeypatch.setattr(tally, "SERIES_MAX", 2)
    made = Tally(LINK)
    for number in range(5):
        made.add("calls", cluster=f"kc_{number}")
    made.add("calls", cluster="kc_0")
    made.flush()
    assert made.read() == {
        ("calls", (("cluster", "kc_0"),)): 2,
        ("calls", (("cluster", "kc_1"),)): 1,
        (DROPPED, ()): 3,
    }


def test_what_is_removed_leaves_no_series(redis_server):
    made = Tally(LINK)
    for cluster in ("kc_1", "kc_2"):
        made.add("calls", cluster=cluster, outcome="ok")
    made.add("lease_losses")
    made.flush()
    made.forget("cluster", "kc_1")
    made.forget("cluster", "kc_3")
    assert set(made.read()) == {
        ("calls", (("cluster", "kc_2"), ("outcome", "ok"))),
        ("lease_losses", ()),
    }


def test_a_mark_says_when_something_was_done_last(redis_server):
    made = Tally(LINK, wall_s=lambda: 1_000.5)
    assert made.marked_at_s("sweep") is None
    made.mark("sweep")
    assert Tally(LINK).marked_at_s("sweep") == 1_000.5
