"""One sentence on a group, over many worlds: the cause, the next step, and what is not known."""

from __future__ import annotations

from typing import Any

import pytest

from controlplane.groups.diagnosis import Cause, Diagnosis, GroupFacts, Place, Standing, diagnose
from controlplane.groups.diagnosis.numbers import named, printable, rate, span
from spark_analytics.contracts.statuses import Risk, Severity, Status

NOW_MS = 1_760_000_000_000
HOUR_S = 3600.0


def standing(status: Status = Status.FALLING_BEHIND, **more: Any) -> Standing:
    known: dict[str, Any] = {
        "topic": "orders",
        "status": status,
        "risk": Risk.WATCH,
        "sampled_ms": NOW_MS - 5_000,
        "stale_after_ms": NOW_MS + 55_000,
        "partitions": 6,
        "is_live": True,
        "lag_records": 6_000,
        "produce_records_per_s": 42.0,
        "consume_records_per_s": 14.0,
        "expires_in_s": 23 * HOUR_S,
        "by_partition": {},
    }
    return Standing(**(known | more))


def place(partition: int, owner: str | None = "m-0", **more: Any) -> Place:
    """A partition that is behind by 1,000 records and gets 7/s, of which 2.3/s are consumed."""
    known: dict[str, Any] = {
        "topic": "orders",
        "partition": partition,
        "owner": owner,
        "committed": 1_000,
        "log_start": 0,
        "log_end": 2_000,
        "produce_records_per_s": 7.0,
        "consume_records_per_s": 2.3,
        "stuck_s": 5.0,
        "is_behind": True,
    }
    return Place(**(known | more))


KEEPS_UP = {"log_end": 1_000, "consume_records_per_s": 7.0, "is_behind": False}
STANDS = {"stuck_s": 720.0, "consume_records_per_s": 0.0}


def said(*standings: Standing, **more: Any) -> Diagnosis:
    known: dict[str, Any] = {
        "state": "Stable",
        "count": 1,
        "now_ms": NOW_MS,
        "members": {f"m-{n}": f"app-{n} (10.0.0.{n})" for n in range(more.get("count", 1))},
        "standings": standings,
        "lag": 6_000,
        "uncommitted_partitions": 0,
        "uncommitted_records": 0,
    }
    return diagnose(GroupFacts(**(known | more)))


def test_one_member_that_is_too_slow_for_all_partitions_wants_more_members():
    found = said(standing(), places=tuple(place(n) for n in range(6)))
    assert found.cause is Cause.TOO_FEW_MEMBERS
    assert found.text == (
        "Consumes 14/s of 42/s produced on orders, all partitions alike, 1 member for 6 partitions;"
        " first unread record expires in 23 h."
    )
    assert found.next_step == "Add members: up to 6 can share the 6 partitions."
    assert (found.severity, found.partitions, found.unknown) == (Severity.WARNING, (), ())


def test_as_many_members_as_partitions_want_faster_ones_or_more_partitions():
    places = tuple(place(n, f"m-{n}") for n in range(6))
    found = said(standing(), count=6, places=places)
    assert found.cause is Cause.TOO_SLOW
    assert "6 members for 6 partitions" in found.text
    assert "More members do not help" in found.next_step


def test_a_partition_that_most_is_produced_to_is_hot():
    hot = place(2, produce_records_per_s=30.0, log_end=9_000)
    rest = [place(n, produce_records_per_s=2.0, log_end=1_010) for n in (0, 1, 3, 4, 5)]
    found = said(standing(lag_records=8_050), places=(hot, *rest))
    assert (found.cause, found.partitions) == (Cause.HOT_PARTITION, (2,))
    assert "orders-2 takes 71% of what is produced and has 8,000 records of the lag" in found.text
    assert found.next_step.startswith("Spread the records' keys")


def test_a_busy_partition_that_is_read_is_not_the_cause():
    busy = place(2, produce_records_per_s=30.0, log_end=1_001)
    rest = [place(n, produce_records_per_s=2.0) for n in (0, 1, 3, 4, 5)]
    assert said(standing(), places=(busy, *rest)).cause is not Cause.HOT_PARTITION


def test_partitions_that_fall_behind_alone_are_named():
    slow = [place(n, f"m-{n}") for n in (1, 4)]
    rest = [place(n, f"m-{n}", **KEEPS_UP) for n in (0, 2, 3, 5)]
    found = said(standing(), count=6, places=(*slow, *rest))
    assert (found.cause, found.partitions) == (Cause.SKEWED, (1, 4))
    assert "only orders-1 and orders-4 fall behind, 4 other partitions keep up" in found.text


def test_all_partitions_of_one_member_falling_behind_name_the_member():
    slow = [place(n, "m-1") for n in (2, 3)]
    rest = [place(n, "m-0", **KEEPS_UP) for n in (0, 1)]
    found = said(standing(partitions=4), count=2, places=(*rest, *slow))
    assert (found.cause, found.partitions) == (Cause.SLOW_MEMBER, (2, 3))
    assert "member app-1 (10.0.0.1) (orders-2 and orders-3) fall behind" in found.text


def test_a_stopped_group_says_what_waits_and_when_it_is_gone():
    found = said(
        standing(Status.STOPPED, consume_records_per_s=0.0, risk=Risk.AT_RISK),
        count=0,
        state="Empty",
    )
    assert found.cause is Cause.STOPPED
    assert found.text == (
        "Nobody consumes: no members, 6,000 records of orders unread, 42/s produced;"
        " first unread record expires in 23 h."
    )
    assert found.next_step.startswith("Start the group's consumers.")
    assert found.severity is Severity.DANGER


def test_who_has_read_all_and_left_is_no_trouble():
    found = said(standing(Status.CAUGHT_UP, lag_records=0, risk=Risk.SAFE), count=0, state="Empty")
    assert (found.cause, found.severity) == (Cause.NOBODY, Severity.OK)
    assert found.text == "Nobody consumes, and nothing committed so far is unread."


def test_one_partition_that_stands_still_points_at_its_record_and_member():
    stuck = place(3, "m-1", **STANDS)
    rest = [place(n, f"m-{n % 3}", **KEEPS_UP) for n in (0, 1, 2, 4, 5)]
    found = said(standing(Status.STALLED), count=3, places=(stuck, *rest))
    assert (found.cause, found.partitions) == (Cause.STUCK_PARTITION, (3,))
    assert found.text == (
        "Partition orders-3 has stood still for 12 min with 1,000 records unread, while 5 other partitions"
        " move, of member app-1 (10.0.0.1)."
    )
    assert "Look at the record at offset 1000 of orders-3" in found.next_step
    assert found.severity is Severity.DANGER


def test_a_member_that_hangs_is_named_with_all_it_has():
    stuck = [place(n, "m-1", **STANDS) for n in (2, 3)]
    rest = [place(n, "m-0", **KEEPS_UP) for n in (0, 1)]
    found = said(standing(Status.STALLED, partitions=4), count=2, places=(*rest, *stuck))
    assert found.cause is Cause.STUCK_MEMBER
    assert found.text.startswith("Member app-1 (10.0.0.1) commits nothing: all of its 2 partitions")
    assert found.next_step.startswith("Restart that member")


def test_all_partitions_standing_still_are_the_members_own_trouble():
    places = tuple(place(n, **STANDS) for n in range(6))
    found = said(standing(Status.STALLED), places=places)
    assert (found.cause, found.partitions) == (Cause.STALLED, ())
    assert found.text.startswith(
        "1 member but nothing is committed, 6,000 records of orders unread"
    )


def test_a_partition_that_nobody_has_is_named():
    orphan = place(5, None, **STANDS)
    rest = [place(n, **KEEPS_UP) for n in range(5)]
    found = said(standing(Status.STALLED), places=(*rest, orphan))
    assert (found.cause, found.partitions) == (Cause.NOT_OWNED, (5,))
    assert found.text.startswith(
        "Partition orders-5 is assigned to no member while 5 other partitions are read"
    )


def test_members_that_take_partitions_by_themselves_own_none_and_are_not_blamed():
    stuck = place(0, None, **STANDS)
    rest = [place(n, None, **KEEPS_UP) for n in (1, 2)]
    found = said(standing(Status.STALLED, partitions=3), places=(stuck, *rest))
    assert found.cause is Cause.STUCK_PARTITION


@pytest.mark.parametrize(
    "state", ["PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"]
)
def test_a_rebalance_explains_a_standstill(state):
    found = said(standing(Status.STALLED), state=state, places=(place(0, None, **STANDS),))
    assert found.cause is Cause.REBALANCING
    assert f"({state})" in found.text
    assert "max.poll.interval.ms" in found.next_step


def test_lost_records_come_first_with_why_more_go():
    lost = place(1, lost_records=30, log_start=1_030)
    found = said(
        standing(Status.DATA_LOST, risk=Risk.LOSING, lost_records=30),
        places=(lost, *(place(n) for n in (0, 2, 3, 4, 5))),
    )
    assert (found.cause, found.partitions) == (Cause.DATA_LOST, (1,))
    assert found.text == (
        "Has lost 30 records of orders that expired unread (orders-1);"
        " it is slower than what is produced."
    )
    assert found.next_step.startswith("Keep records longer on the topic (retention.ms)")
    assert "Add members" in found.next_step


def test_losing_by_retention_alone_is_data_lost_too():
    found = said(standing(Status.LAGGING, risk=Risk.LOSING, lost_records=None), count=1)
    assert (found.cause, found.severity) == (Cause.DATA_LOST, Severity.DANGER)
    assert "has lost records of orders" in found.text.lower()


def test_what_is_at_risk_is_a_danger_though_the_status_is_a_warning():
    found = said(standing(Status.FALLING_BEHIND, risk=Risk.AT_RISK, first_loss_in_s=90 * HOUR_S))
    assert found.severity is Severity.DANGER
    assert "expires in 23 h, first loss at this pace in 4 days" in found.text


def test_the_worst_topic_speaks():
    fine = standing(Status.CAUGHT_UP, topic="a", risk=Risk.SAFE, lag_records=0)
    late = standing(Status.FALLING_BEHIND, topic="b", lag_records=10)
    gone = standing(Status.CATCHING_UP, topic="c", risk=Risk.LOSING, lag_records=5)
    assert said(fine, late, gone).topic == "c"
    assert said(fine, late).topic == "b"
    assert said(fine).cause is Cause.CAUGHT_UP


def test_of_equal_harm_the_longer_lag_speaks():
    assert said(standing(topic="a", lag_records=5), standing(topic="b", lag_records=9)).topic == "b"


def test_members_that_never_committed_warn_and_both_bounds_are_told():
    found = said(lag=None, count=2, uncommitted_partitions=6, uncommitted_records=15_000)
    assert (found.cause, found.severity) == (Cause.NEVER_COMMITTED, Severity.WARNING)
    assert found.text == "2 members, and nothing was ever committed."
    (unknown,) = found.unknown
    assert "up to 15,000 records there with auto.offset.reset=earliest, none with latest" in unknown


def test_partitions_without_a_commit_are_told_beside_a_group_that_is_caught_up():
    found = said(
        standing(Status.CAUGHT_UP, risk=Risk.SAFE, lag_records=0),
        uncommitted_partitions=1,
        uncommitted_records=9,
    )
    assert found.cause is Cause.CAUGHT_UP
    assert found.unknown[0].startswith("1 partition has no commit: its consumers read up to 9")


def test_what_they_hold_may_be_unknown():
    found = said(standing(), uncommitted_partitions=2, uncommitted_records=None)
    assert any("an unknown number of records" in each for each in found.unknown)


def test_empty_partitions_without_a_commit_are_no_news():
    assert said(standing(), uncommitted_partitions=2, uncommitted_records=0).unknown == ()


def test_members_beyond_the_partitions_are_idle():
    places = tuple(place(n, f"m-{n}", **KEEPS_UP) for n in range(2))
    found = said(
        standing(Status.CAUGHT_UP, risk=Risk.SAFE, lag_records=0, partitions=2),
        count=3,
        places=places,
    )
    assert (found.cause, found.severity) == (Cause.IDLE_MEMBERS, Severity.OK)
    assert found.text == "Is caught up, 1 member of 3 has no partition to read."


def test_catching_up_says_by_when():
    found = said(
        standing(Status.CATCHING_UP, risk=Risk.SAFE, consume_records_per_s=90.0, eta_s=125.0)
    )
    assert found.cause is Cause.CATCHING_UP
    assert "caught up in 2 min at this pace" in found.text


def test_a_rewound_group_says_how_long_it_reads_again():
    found = said(standing(Status.REWOUND, eta_s=600.0))
    assert found.cause is Cause.REWOUND
    assert found.text == (
        "Went back to earlier offsets, 6,000 records of orders unread, read again in 10 min at this"
        " pace."
    )


def test_members_that_do_not_commit_somewhere():
    found = said(standing(Status.NOT_COMMITTING, risk=Risk.UNKNOWN), count=2)
    assert found.cause is Cause.NOT_COMMITTING
    assert "enable.auto.commit" in found.next_step


def test_too_few_samples_are_unknown_not_well():
    found = said(standing(Status.UNKNOWN, risk=Risk.UNKNOWN, lag_records=None))
    assert (found.cause, found.severity) == (Cause.UNKNOWN, Severity.UNKNOWN)
    assert "how much is unread is not known" in found.text


def test_without_any_verdict_the_brokers_lag_is_told_and_the_pace_is_not():
    found = said()
    assert (found.cause, found.as_of_ms) == (Cause.UNKNOWN, None)
    assert found.text == "How it does is not known yet, 6,000 records unread."
    assert "Nobody has judged its pace yet" in found.unknown[0]


def test_unknown_rates_are_said_not_made_up():
    found = said(
        standing(
            produce_records_per_s=None,
            consume_records_per_s=None,
            expires_in_s=None,
            risk=Risk.UNKNOWN,
        )
    )
    assert (
        found.text == "6,000 records of orders unread, pace not known, 1 member for 6 partitions."
    )
    assert found.unknown == (
        "Its pace is not known: there are too few samples.",
        "When its unread records expire is not known.",
    )


def test_one_rate_alone_is_told():
    assert said(standing(consume_records_per_s=None)).text.startswith("42/s produced on orders")
    found = said(standing(produce_records_per_s=None))
    assert found.text.startswith("Consumes 14/s, what is produced is not known on orders")


def test_an_old_verdict_says_that_it_is():
    found = said(standing(sampled_ms=NOW_MS - 900_000, stale_after_ms=NOW_MS - 840_000))
    assert found.is_stale
    assert found.unknown[0] == "A newer sample is overdue; how it does now is not known."


def test_where_only_sums_are_known_it_says_so():
    found = said(standing(by_partition=None), places=(place(0), place(1)))
    assert "Which partitions are the cause is not known: only their sums are." in found.unknown


def test_partitions_without_a_known_end_are_counted():
    found = said(standing(), places=(place(0), place(1, log_end=None)))
    assert "Where 1 partition ends is not known." in found.unknown


def test_no_members_and_no_commit():
    found = said(lag=None, count=0, state="Empty")
    assert found.text == "Has no members and no commit that counts."


def test_a_member_chooses_its_name_but_not_how_long_the_sentence_is():
    name = "\u202eevil\n" + "x" * 500
    stuck = [place(n, "m-0", **STANDS) for n in (0, 1)]
    found = said(
        standing(Status.STALLED),
        count=2,
        members={"m-0": name, "m-1": "b"},
        places=(*stuck, place(2, "m-1", **KEEPS_UP)),
    )
    assert found.cause is Cause.STUCK_MEMBER
    assert "\u202e" not in found.text
    assert "\n" not in found.text
    assert len(found.text) < 300


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("risk", list(Risk))
@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.parametrize("known", [True, False])
def test_every_world_has_a_sentence(status, risk, count, known):
    nothing = (
        {}
        if known
        else {
            "lag_records": None,
            "produce_records_per_s": None,
            "consume_records_per_s": None,
            "expires_in_s": None,
        }
    )
    places = tuple(place(n, f"m-{n % 3}" if count else None) for n in range(3)) if known else ()
    found = said(standing(status, risk=risk, **nothing), count=count, places=places)
    assert (found.text.endswith(".") and found.text[0].isupper()) or found.text[0].isdigit()
    assert "None" not in found.text + found.next_step
    assert (found.status, found.risk) == (status, risk)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (89, "89 s"),
        (90, "2 min"),
        (5_300, "88 min"),
        (7_200, "2 h"),
        (864_000, "10 days"),
    ],
)
def test_spans(seconds, text):
    assert span(seconds) == text


@pytest.mark.parametrize(
    ("per_s", "text"),
    [(0.0, "0/s"), (0.01, "under 0.1/s"), (0.44, "0.4/s"), (14.2, "14/s"), (1_234.5, "1,234/s")],
)
def test_rates(per_s, text):
    assert rate(per_s) == text


def test_names_are_cut():
    assert named([place(n) for n in range(5)]) == "orders-0, orders-1, orders-2 and 2 more"
    assert len(printable("y" * 100)) == 60
