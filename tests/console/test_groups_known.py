"""The page of groups is not read while a newer sample says of them what the one before said."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from console.revisions import AGES, ages
from controlplane.analytics.judge import store
from controlplane.analytics.models import CollectorState, GoldGroupLag, GroupVerdict
from controlplane.analytics.slices import Sample
from controlplane.analytics.times import ms_of
from controlplane.analytics.verdicts.evaluator import Evaluator
from controlplane.gateway.types import TP
from controlplane.observed.models import ObservedGroup
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, observed, tenant_make
from tests.spark_analytics.cases import group_slice, topic_slice

pytestmark = pytest.mark.django_db
NOT_READ_MAX = 8


def verdict(group="team-a-billing", topic="team-a-orders"):
    evaluator = Evaluator()
    evaluator.feed(
        [topic_slice(0, 100, topic=topic), group_slice(0, 50, 100, group=group, topic=topic)]
    )
    (found,) = evaluator.verdicts()
    return found


def sampled(world, at_ms, **more):
    found = [replace(verdict(), sampled_ms=at_ms, **more)]
    sample = Sample(ts_ms=at_ms, topics=(), log_starts={}, log_ends={})
    store(world.cluster.id, sample, found, timezone.now())


@pytest.fixture
def now_ms():
    return ms_of(timezone.now())


@pytest.fixture
def judged(world, now_ms):
    world.gateway.add_topic("team-a-orders", partitions=1, records=100)
    world.gateway.add_group("team-a-billing", {TP("team-a-orders", 0): 50})
    observed(world)
    CollectorState.objects.create(pk=world.cluster.id)
    sampled(world, now_ms - 20_000)
    return world


def page(world):
    return f"/console/api/pages/groups/{world.cluster.id}"


def test_a_newer_sample_that_says_the_same_is_told_by_its_moments_alone(judged, now_ms):
    client = client_for(judged.tenant)
    first = client.get(page(judged))
    (row,) = first.json()["parts"]["groups"]["data"]
    assert row["diagnosis"]["as_of"] is not None
    observed(judged)
    sampled(judged, now_ms)
    with CaptureQueriesContext(connection) as asked:
        again = client.get(page(judged), HTTP_IF_NONE_MATCH=first["ETag"])
    assert (again.status_code, again["ETag"]) == (304, first["ETag"])
    statements = [each["sql"] for each in asked]
    assert len(statements) <= NOT_READ_MAX
    for model in (ObservedGroup, GroupVerdict):
        assert not [sql for sql in statements if model._meta.db_table in sql]
    after = client.get(page(judged))
    told = dict(pair.split("=") for pair in again[AGES].split(", "))
    read = dict(pair.split("=") for pair in ages(after.json()["parts"]).split(", "))
    assert (told["groups"], told["counts"]) == (read["groups"], read["counts"])
    assert len(read["groups"].split()) == 2
    # The part of now is as of each answer; its samples are those.
    assert told["lag"].split()[1:] == read["lag"].split()[1:] != []
    assert after["ETag"] == first["ETag"]


def test_a_sample_that_says_something_else_is_read(judged, now_ms):
    client = client_for(judged.tenant)
    tag = client.get(page(judged))["ETag"]
    sampled(judged, now_ms, lag_records=51)
    answer = client.get(page(judged), HTTP_IF_NONE_MATCH=tag)
    assert answer.status_code == 200
    (point,) = answer.json()["parts"]["lag"]["data"]["data"]
    assert point["lag_records"] == 51


def test_what_stays_is_told_to_stay(judged, now_ms):
    """A verdict that knows nothing leaves the word to Spark, whose sample is the same as before."""
    at_ms = now_ms - 200_000
    gold = GoldGroupLag(
        cluster_id=judged.cluster.id, group="team-a-billing", topic="team-a-orders",
        ts_ms=at_ms, sampled_ms=at_ms, partitions=1, trend="steady", status="STALLED", run_id="r",
    )  # fmt: skip
    gold.save()
    client = client_for(judged.tenant)
    first = client.get(page(judged))
    (row,) = first.json()["parts"]["groups"]["data"]
    assert row["diagnosis"]["status"] == "STALLED"
    sampled(judged, now_ms)
    again = client.get(page(judged), HTTP_IF_NONE_MATCH=first["ETag"])
    told = dict(pair.split("=") for pair in again[AGES].split(", "))
    assert again.status_code == 304
    assert told["groups"].split()[1:] == ["-"]


def test_it_is_read_while_samples_differ_and_still_known_by_what_it_says(judged, now_ms):
    CollectorState.objects.update(verdicts_revision="")
    client = client_for(judged.tenant)
    first = client.get(page(judged))
    assert "." not in first["ETag"]
    with CaptureQueriesContext(connection) as asked:
        again = client.get(page(judged), HTTP_IF_NONE_MATCH=first["ETag"])
    assert again.status_code == 304
    assert any(ObservedGroup._meta.db_table in each["sql"] for each in asked)


def test_its_tag_is_of_one_viewer(judged):
    tag = client_for(judged.tenant).get(page(judged))["ETag"]
    narrow = member_of(judged.tenant).get(page(judged), HTTP_IF_NONE_MATCH=tag)
    assert narrow.status_code == 200
    other = client_for(tenant_make("other"))
    other.raise_request_exception = False
    assert other.get(page(judged), HTTP_IF_NONE_MATCH=tag).status_code == 404
    opening, _, letters = tag.rpartition(".")
    for made_up in (f"{opening}.{letters.replace('d', 'a')}", f'{opening}"', f'{opening}.zz"'):
        answer = member_of(judged.tenant).get(page(judged), HTTP_IF_NONE_MATCH=made_up)
        assert answer.status_code == 200
