"""What is known of verdicts unread: the same while they say the same, and when nothing is."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.analytics import services
from controlplane.analytics.conf import conf
from controlplane.analytics.judge import INSTANTS, store
from controlplane.analytics.judged import judged_as
from controlplane.analytics.models import CollectorState, GoldGroupLag, GroupVerdict
from controlplane.analytics.rules import VERDICT_STALE_S
from controlplane.analytics.slices import Sample
from controlplane.analytics.times import ms_of
from controlplane.analytics.verdicts.evaluator import Evaluator
from spark_analytics.contracts.statuses import Risk, Status
from tests.spark_analytics.cases import group_slice, topic_slice

pytestmark = pytest.mark.django_db
C1 = "kc_1"
NOW_MS = 1_760_000_000_000


@pytest.fixture(autouse=True)
def state():
    return CollectorState.objects.create(pk=C1)


def verdicts(at_ms, **more):
    evaluator = Evaluator()
    evaluator.feed(
        [topic_slice(0, 100), group_slice(0, 50, 100), group_slice(0, 60, 100, group="g2")]
    )
    return [replace(one, sampled_ms=at_ms, **more) for one in evaluator.verdicts()]


def kept(at_ms, found):
    sample = Sample(ts_ms=at_ms, topics=(), log_starts={}, log_ends={})
    store(C1, sample, found, timezone.now())
    return judged_as(C1, at_ms)


def gold(at_ms):
    GoldGroupLag.objects.create(
        cluster_id=C1, group="g", topic="orders", ts_ms=at_ms, sampled_ms=at_ms,
        partitions=1, trend="steady", status="CAUGHT_UP", run_id="r",
    )  # fmt: skip


def test_a_later_sample_that_says_the_same_has_the_same_revision():
    first = kept(NOW_MS, verdicts(NOW_MS))
    later = kept(NOW_MS + 10_000, verdicts(NOW_MS + 10_000))
    assert first.revision == later.revision
    assert (first.sampled_ms, later.sampled_ms) == (NOW_MS, NOW_MS + 10_000)
    assert later.stale_after_ms == NOW_MS + 10_000 + VERDICT_STALE_S * 1000


@pytest.mark.parametrize(
    "more", [{"lag_records": 7}, {"status": Status.STALLED}, {"risk": Risk.LOSING}, {"members": 3}]
)
def test_whatever_differs_is_another_revision(more):
    first = kept(NOW_MS, verdicts(NOW_MS))
    assert kept(NOW_MS, verdicts(NOW_MS, **more)).revision != first.revision


def test_a_group_that_is_gone_is_another_revision():
    first = kept(NOW_MS, verdicts(NOW_MS))
    assert kept(NOW_MS, verdicts(NOW_MS)[:1]).revision != first.revision


def test_only_instants_are_no_part_of_it():
    assert {field.name for field in GroupVerdict._meta.concrete_fields} >= INSTANTS


def test_verdicts_of_several_samples_are_not_known():
    found = verdicts(NOW_MS)
    assert kept(NOW_MS, [found[0], replace(found[1], sampled_ms=NOW_MS - 10_000)]) is None


def test_nothing_is_known_of_a_cluster_that_nobody_judged():
    assert judged_as(C1, NOW_MS) is None
    assert judged_as("kc_2", NOW_MS) is None


def test_verdicts_that_are_too_old_by_now_say_something_else():
    young = kept(NOW_MS, verdicts(NOW_MS))
    last_ms = NOW_MS + VERDICT_STALE_S * 1000
    assert judged_as(C1, last_ms).revision == young.revision
    assert judged_as(C1, last_ms + 1).revision != young.revision


@pytest.mark.parametrize(
    ("before_ms", "is_known"),
    [(0, False), (29_999, False), (30_000, True), (600_000, True), (900_000, False)],
)
def test_gold_that_may_be_newer_or_too_old_leaves_it_unknown(before_ms, is_known):
    gold(NOW_MS - before_ms)
    assert (kept(NOW_MS, verdicts(NOW_MS)) is not None) is is_known


def test_another_run_is_another_revision():
    gold(NOW_MS - 100_000)
    first = kept(NOW_MS, verdicts(NOW_MS))
    GoldGroupLag.objects.update(run_id="another")
    assert judged_as(C1, NOW_MS).revision != first.revision


def test_it_is_forgotten_with_the_verdicts():
    at_ms = ms_of(timezone.now() - timedelta(days=3))
    kept(at_ms, verdicts(at_ms))
    GroupVerdict.objects.update(judged_at=timezone.now() - timedelta(days=3))
    services.forget_old(conf())
    assert judged_as(C1, at_ms) is None
