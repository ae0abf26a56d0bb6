"""Gold beside its records and the brokers: what is equal, what has moved, what is wrong."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from controlplane.analytics.check import Claim, Verdict, compare, number_of
from controlplane.analytics.claims import newest_claims
from controlplane.analytics.models import GoldGroupLag, GoldTopicRetention
from tests.controlplane.analytics import rows

GROUP, TOPIC = ("group", "t", "g"), ("topic", "t", "")
AT = 1_000


def group(committed, ends):
    return {
        "kind": "group",
        "partition": list(range(len(ends))),
        "committed_offset": committed,
        "log_start_offset": [0] * len(ends),
        "log_end_offset": ends,
    }


@pytest.mark.parametrize(
    ("record", "value"),
    [
        (group([3, 5], [10, 5]), 7),
        (group([3, -1], [10, 50]), 7),
        (group([-1], [50]), None),
        (group([3, 5], [10, None]), None),
        (group([12], [10]), 0),
        ({"kind": "topic", "size_bytes": [100, 20]}, 120),
        ({"kind": "topic", "size_bytes": [100, None]}, None),
        ({"kind": "topic", "size_bytes": []}, 0),
    ],
)
def test_a_record_s_number_is_its_definition(record, value):
    assert number_of(record) == value


@pytest.mark.parametrize(
    ("gold", "recorded", "live", "quiesced", "verdict"),
    [
        (7, group([3], [10]), group([3], [10]), True, Verdict.EQUAL),
        (7, group([3], [10]), group([3], [12]), False, Verdict.MOVED),
        (7, group([3], [10]), group([3], [12]), True, Verdict.DIFFERENT),
        (7, group([3], [10]), None, False, Verdict.MOVED),
        (7, group([3], [10]), None, True, Verdict.DIFFERENT),
        (8, group([3], [10]), group([3], [11]), False, Verdict.DIFFERENT),
        (7, None, group([3], [10]), False, Verdict.NO_RECORD),
        (None, group([-1], [10]), group([-1], [10]), True, Verdict.EQUAL),
    ],
)
def test_verdicts(gold, recorded, live, quiesced, verdict):
    claim = Claim(key=GROUP, sampled_ms=AT, value=gold)
    record = {} if recorded is None else {(GROUP, AT): recorded}
    now = {} if live is None else {GROUP: live}
    (line,) = compare([claim], record, now, quiesced=quiesced)
    assert line.verdict == verdict


def test_other_bytes_at_the_same_offsets_are_no_movement():
    then = {
        **group([0], [10]),
        "kind": "topic",
        "size_bytes": [100],
        "committed_offset": None,
    }
    claim = Claim(key=TOPIC, sampled_ms=AT, value=100)
    now = {TOPIC: {**then, "size_bytes": [90]}}
    (line,) = compare([claim], {(TOPIC, AT): then}, now, quiesced=False)
    assert (line.verdict, line.live) == (Verdict.DIFFERENT, 90)


@pytest.mark.django_db
def test_claims_are_the_newest_rows_without_internal_topics():
    for ts_ms, lag in ((rows.T0_MS, 1), (rows.T0_MS + rows.WINDOW_MS, 2)):
        GoldGroupLag.objects.create(**rows.lag_row("a", ts_ms, lag_records=lag), run_id="r")
        for topic in ("t", "__consumer_offsets"):
            held = {"sampled_ms": ts_ms + 5, "partitions": 1, "bytes": lag * 10}
            GoldTopicRetention.objects.create(
                cluster_id="a", topic=topic, ts_ms=ts_ms, run_id="r", **held
            )
    found = newest_claims("a")
    assert [(claim.key[0], claim.value) for claim in found] == [("group", 2), ("topic", 20)]
    assert {claim.key[1] for claim in newest_claims("a", group="g")} == {"t"}
    assert [claim.key[0] for claim in newest_claims("a", topic="__consumer_offsets")] == ["topic"]
    assert newest_claims("b") == []


@pytest.mark.django_db
def test_the_command_says_in_one_line_what_is_missing(world):
    with pytest.raises(CommandError, match="no cluster 'nowhere'"):
        call_command("analytics_check", cluster="nowhere")
    with pytest.raises(CommandError, match="no gold rows"):
        call_command("analytics_check", cluster=world.cluster.id)
