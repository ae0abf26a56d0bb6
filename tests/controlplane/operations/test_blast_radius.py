"""What grows beyond a plan, over amounts and names that are drawn at random."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.gateway.readings import Gap, Reading
from controlplane.operations.blast_radius import (
    amount,
    grown,
    growth_text,
    listed,
    unknown_of,
)
from controlplane.operations.warnings import warning_of

GAPS = st.sets(st.builds(Gap, st.sampled_from(["a is away", "b is away"])), max_size=2).map(tuple)
COUNTS = st.integers(min_value=0, max_value=10**15)
NAMES = st.sets(st.sampled_from("abcdef"))


def records(count, gaps=()):
    return amount("records", "records", "record", Reading(known=count, gaps=gaps))


def groups(names, gaps=()):
    return listed("groups", "groups", "group", names, gaps)


def rows(*extents):
    return [extent.as_row() for extent in extents]


@given(COUNTS, COUNTS, GAPS, GAPS)
def test_an_amount_may_grow_by_a_tenth_and_not_become_unknown(planned, now, gaps, gaps_now):
    found = grown(rows(records(planned, gaps)), rows(records(now, gaps_now)))
    too_much = 10 * now > 11 * planned
    assert bool(found) == (too_much or bool(set(gaps_now) - set(gaps)))


@given(NAMES, NAMES)
def test_names_may_go_but_none_may_come(planned, now):
    found = grown(rows(groups(planned)), rows(groups(now)))
    assert [row["added"] for row in found] == ([sorted(now - planned)] if now - planned else [])


def test_an_extent_that_the_plan_has_not_is_new():
    (change,) = grown([], rows(records(0)))
    assert growth_text(change) == "records: unknown in the plan, 0 now"


def test_what_may_change_is_not_compared():
    def free(count, gaps=()):
        return amount(
            "lag", "records-unread", "record", Reading(known=count, gaps=gaps), may_change=True
        )

    assert free(0).as_row()["limit"] is None
    assert grown(rows(free(0)), rows(free(10**9, (Gap("x"),)))) == []


def test_unknown_is_no_number():
    row = records(0, (Gap("broker 2 did not answer", (2,)),)).as_row()
    assert (row["value"], row["at_least"]) == (None, 0)
    assert row["unknown"] == [{"reason": "broker 2 did not answer", "brokers": [2]}]


def test_an_extent_is_said_in_words():
    gap = (Gap("x"),)
    assert records(1).said() == "1 record"
    assert records(0).said() == "0 records"
    assert records(7, gap).said() == "at least 7 records"
    assert records(0, gap).said() == "an unknown number of records"


def test_sentences_put_an_amount_in_words():
    def said(count, gaps=()):
        return warning_of("unread", **records(count, gaps).params("records"))["text"]

    gap = (Gap("x"),)
    rest = "of its topics are unread by this group."
    assert said(1) == f"1 record {rest}"
    assert said(4400) == f"4400 records {rest}"
    assert said(4400, gap) == f"At least 4400 records {rest}"
    assert said(0, gap) == f"An unknown number of records {rest}"


def test_each_reason_names_all_that_it_leaves_uncertain():
    gap = Gap("broker 2 did not answer", (2,))
    codes = unknown_of([records(1, (gap,)), groups("a"), groups("b", (gap,))])
    assert codes == {"broker 2 did not answer": ["records", "groups"]}
    (reason, uncertain) = codes.popitem()
    assert warning_of("unknown", reason=reason, extents=", ".join(uncertain))["text"] == (
        "Unknown: broker 2 did not answer. That leaves uncertain: records, groups."
    )


@pytest.mark.parametrize(
    ("count", "gaps", "said"),
    [
        (4400, (), {"records": 4400, "records_are": "exact"}),
        (4400, (Gap("a is away"),), {"records": 4400, "records_are": "least"}),
        (0, (Gap("a is away"),), {"records": None, "records_are": "exact"}),
        (0, (), {"records": 0, "records_are": "exact"}),
    ],
)
def test_sentences_are_told_what_of_an_amount_is_known(count, gaps, said):
    assert records(count, gaps).params("records") == said
    bytes_held = records(count, gaps).params("size_bytes", whole="size")
    assert set(bytes_held) == {"size_bytes", "size_are"}


def test_only_the_first_new_names_are_said():
    (change,) = grown(rows(groups([])), rows(groups("abcdefg")))
    assert growth_text(change).endswith("(new: a, b, c, d, e and 2 more)")
