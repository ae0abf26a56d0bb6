"""How much disk a longer retention needs: bounds that hold, and unknowns that stay unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.gateway.types import TP, LogDirSpace, ReplicaSize
from controlplane.topics.room import (
    KEPT_FREE,
    Log,
    Wanted,
    cut_by_size,
    disk_rows,
    rate_bytes_per_s,
    size_at_end,
)

DAY_S = 86_400
GB = 10**9
P0 = TP("orders", 0)


def wanted(keep_s=7 * DAY_S, for_s=DAY_S, retention_bytes=-1, segment_bytes=0):
    return Wanted(
        keep_ms=keep_s * 1000,
        for_s=for_s,
        retention_bytes=retention_bytes,
        segment_bytes=segment_bytes,
    )


def replica(broker, size, tp=P0, log_dir="/d"):
    return ReplicaSize(broker=broker, log_dir=log_dir, tp=tp, size_bytes=size, offset_lag=0)


def space(broker, total, usable, log_dir="/d"):
    return LogDirSpace(broker=broker, log_dir=log_dir, total_bytes=total, usable_bytes=usable)


def test_the_fastest_window_is_the_rate():
    log = Log(size_bytes=1_000, records=10, written={1_000: 5, 10_000: 20})
    assert rate_bytes_per_s(log) == 500.0


@pytest.mark.parametrize(
    "log",
    [
        Log(size_bytes=None, records=10, written={1_000: 1}),
        Log(size_bytes=10, records=None, written={1_000: 1}),
        Log(size_bytes=10, records=10, written={}),
    ],
)
def test_what_is_not_known_is_no_rate_of_zero(log):
    assert rate_bytes_per_s(log) is None
    assert size_at_end(10, rate_bytes_per_s(log), wanted()) is None


def test_an_empty_log_that_nobody_writes_to_does_not_grow():
    assert rate_bytes_per_s(Log(size_bytes=0, records=0, written={1_000: 0})) == 0.0
    assert size_at_end(0, 0.0, wanted()) == 0


@pytest.mark.parametrize(
    ("size", "rate", "want", "end"),
    [
        (100, 1.0, wanted(keep_s=10_000, for_s=50), 150),  # as long as the lease lasts
        (100, 1.0, wanted(keep_s=120, for_s=5_000), 120),  # what the retention holds
        (100, 1.0, wanted(keep_s=120, for_s=5_000, segment_bytes=7), 127),
        (500, 1.0, wanted(keep_s=120, for_s=5_000), 500),  # it is never said to shrink
        (100, 1.0, wanted(keep_s=10_000, for_s=5_000, retention_bytes=300), 300),
        (100, None, wanted(retention_bytes=300, segment_bytes=5), 305),
        (100, None, wanted(retention_bytes=None), None),
    ],
)
def test_a_log_at_the_end_of_the_lease(size, rate, want, end):
    assert size_at_end(size, rate, want) == end


@given(
    size=st.integers(0, 10**12),
    rate=st.floats(0, 10**9),
    keep_s=st.integers(1, 10**8),
    for_s=st.integers(1, 10**7),
    segment=st.integers(0, 2**31),
)
def test_a_simulated_log_never_outgrows_the_bound(size, rate, keep_s, for_s, segment):
    """A log that is written to at the rate and keeps what is younger than the retention."""
    end = size_at_end(size, rate, wanted(keep_s=keep_s, for_s=for_s, segment_bytes=segment))
    written = rate * min(for_s, keep_s)
    kept_of_old = max(0.0, size - rate * max(0, for_s - keep_s)) if for_s <= keep_s else 0.0
    assert end is not None
    assert end + 1 >= min(written + kept_of_old, max(size, rate * keep_s + segment))
    assert end >= size


def test_a_size_limit_that_cuts_the_time_short_is_said():
    assert cut_by_size([2.0], wanted(keep_s=100, retention_bytes=199))
    assert not cut_by_size([2.0, None], wanted(keep_s=100, retention_bytes=200))
    assert not cut_by_size([2.0], wanted(keep_s=100))


def test_a_disk_that_would_be_nearly_full_does_not_fit():
    rates = {P0: 1.0 * GB / DAY_S}
    for usable, fits in ((110, True), (95, False)):
        (row,) = disk_rows(
            [replica(1, 5 * GB)], rates, [space(1, 1000 * GB, usable * GB)], {1: "a"}, wanted()
        )
        assert row.usable_at_end == (usable - 1) * GB
        assert row.fits is fits, KEPT_FREE


def test_brokers_of_one_host_share_its_disk():
    rates = {P0: 1.0 * GB / DAY_S}
    rows = disk_rows(
        [replica(1, 0), replica(2, 0), replica(3, 0)],
        rates,
        [space(broker, 100 * GB, 12 * GB) for broker in (1, 2, 3)],
        {1: "a", 2: "a", 3: "b"},
        wanted(),
    )
    assert [row.usable_at_end for row in rows] == [10 * GB, 10 * GB, 11 * GB]


def test_a_bound_that_the_user_gives_counts_where_the_disk_is_not_known():
    rates = {P0: 1.0}
    for bound, fits in ((2 * DAY_S, True), (DAY_S - 1, False), (None, None)):
        (row,) = disk_rows(
            [replica(1, 0)], rates, [space(1, None, None)], {1: "a"}, wanted(), bound_bytes=bound
        )
        assert (row.fits, row.usable_at_end) == (fits, None)


def test_an_unknown_rate_leaves_it_open_whatever_the_disk_has():
    (row,) = disk_rows(
        [replica(1, 5)], {P0: None}, [space(1, 100 * GB, 99 * GB)], {1: "a"}, wanted()
    )
    assert (row.bytes_at_end, row.usable_at_end, row.fits) == (None, None, None)


def test_a_disk_that_is_full_already_does_not_refuse_a_topic_that_does_not_grow():
    (row,) = disk_rows([replica(1, 5)], {P0: 0.0}, [space(1, 100 * GB, GB)], {1: "a"}, wanted())
    assert row.fits is True
