"""A page that nobody touches costs a 304 while nothing happens, however often brokers are looked at
and groups sampled; its numbers are as old as the header says, as if it had been sent again.
"""

import re
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

import console.api
from console.revisions import AGES, MOMENTS, MOMENTS_MAX, ages, tag_of_page
from controlplane.analytics.models import CollectorState, GroupVerdict
from controlplane.analytics.rules import VERDICT_STALE_S
from controlplane.clusters.models import Cluster
from controlplane.gateway.types import TP
from tests.controlplane.analytics.test_standings import billing, judged, keep
from tests.controlplane.support import client_for, cluster_make, observed, tenant_make

__all__ = ["billing"]

pytestmark = pytest.mark.django_db
MOMENT = re.compile(r"[0-9T:.Z+-]+")
PAGES = {
    "overview": "overview",
    "cluster": "cluster/{cluster}",
    "topics": "topics/{cluster}",
    "topic": "topic/{cluster}/orders",
    "groups": "groups/{cluster}",
    "groups in trouble": "groups/{cluster}?trouble=true",
    "group": "group/{cluster}/billing",
    "broker": "broker/{cluster}/1",
    "analytics": "analytics/{cluster}",
    "access": "access/{cluster}",
    "operations": "operations",
}
EARLY, LATE = (datetime(2026, 1, 1, 12, 0, second, tzinfo=UTC) for second in (1, 9))


@pytest.fixture
def followed(billing):
    """Observed, and its groups judged, at `EARLY` by the clock of parts that read tables."""
    console.api.RUNNER.wall = lambda: EARLY
    keep(billing, judged())
    observed(billing)
    return billing


def path(world, name):
    return f"/console/api/pages/{PAGES[name].format(cluster=world.cluster.id)}"


def no_answer_is_young():
    """Any longer: one that is, is given again."""
    then = time.monotonic() + 60
    console.api.RUNNER.monotonic = lambda: then


def looked_at_again(world):
    """A pass, a sample and a verdict later, of which each found what there was before."""
    console.api.RUNNER.wall = lambda: LATE
    no_answer_is_young()
    observed(world)
    later_ms = int((timezone.now() + timedelta(seconds=1)).timestamp() * 1_000)
    GroupVerdict.objects.update(sampled_ms=later_ms)
    CollectorState.objects.update_or_create(
        pk=world.cluster.id, defaults={"last_sample_at": timezone.now(), "samples": 77}
    )


def renewed(parts, header):
    """As the console's page does it (`page-ages.ts`)."""
    said = dict(pair.split("=") for pair in header.split(", "))
    return {name: _replaced(part, said[name].split(), {}) for name, part in parts.items()}


def _replaced(value, said, known):
    if isinstance(value, list):
        return [_replaced(each, said, known) for each in value]
    if not isinstance(value, dict):
        return value
    now = dict(value)
    for name in sorted(value):
        each = value[name]
        if name in MOMENTS and isinstance(each, str) and MOMENT.fullmatch(each):
            if each not in known and len(known) < len(said):
                known[each] = said[len(known)]
            now[name] = known.get(each, each)
        else:
            now[name] = _replaced(each, said, known)
    return now


@pytest.mark.parametrize("name", PAGES)
def test_a_page_on_which_nothing_happened_is_not_sent_and_gets_all_its_ages(followed, name):
    client = client_for(followed.tenant)
    first = client.get(path(followed, name))
    looked_at_again(followed)
    again = client.get(path(followed, name), HTTP_IF_NONE_MATCH=first["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    whole = client.get(path(followed, name)).json()["parts"]
    assert whole != first.json()["parts"]  # it was looked at since
    assert renewed(first.json()["parts"], again[AGES]) == whole


def more_unread(world):
    world.gateway.add_group("billing", {TP("orders", 0): 1_400, TP("orders", 1): 400}, members=1)
    observed(world)


def judged_worse(_world):
    GroupVerdict.objects.update(lag_seconds=99_999.0)


def overdue(_world):
    then = timezone.now() - timedelta(seconds=VERDICT_STALE_S + 60)
    GroupVerdict.objects.update(sampled_ms=int(then.timestamp() * 1_000))


@pytest.mark.parametrize("change", [more_unread, judged_worse, overdue])
@pytest.mark.parametrize("name", ["groups", "group"])
def test_what_happened_to_a_group_is_seen_at_once(followed, name, change):
    client = client_for(followed.tenant)
    tag = client.get(path(followed, name))["ETag"]
    change(followed)
    answer = client.get(path(followed, name), HTTP_IF_NONE_MATCH=tag)
    assert (answer.status_code, answer["ETag"] == tag) == (200, False)


def test_an_overdue_verdict_says_no_other_sentence_each_second(followed):
    overdue(followed)
    client = client_for(followed.tenant)
    first = client.get(path(followed, "group"))
    assert first.json()["parts"]["group"]["data"]["diagnosis"]["is_stale"]
    again = client.get(path(followed, "group"), HTTP_IF_NONE_MATCH=first["ETag"])
    assert again.status_code == 304


def test_another_state_of_a_cluster_is_seen_at_once(followed):
    client = client_for(followed.tenant)
    tag = client.get(path(followed, "overview"))["ETag"]
    Cluster.objects.filter(pk=followed.cluster.id).update(phase="DELETING")
    no_answer_is_young()
    answer = client.get(path(followed, "overview"), HTTP_IF_NONE_MATCH=tag)
    assert answer.json()["parts"]["clusters"]["data"][0]["phase"] == "DELETING"


def test_a_tag_of_a_group_is_nobody_elses(followed):
    tag = client_for(followed.tenant).get(path(followed, "group"))["ETag"]
    other = client_for(tenant_make("other"))
    other.raise_request_exception = False
    cluster_make(tenant_make("third"), "theirs")
    assert other.get(path(followed, "group"), HTTP_IF_NONE_MATCH=tag).status_code == 404


def part(as_of, data):
    return {"status": "ok", "as_of": as_of, "reason": None, "data": data}


def rows(*moments):
    return [{"name": at, "sampled_at": moment} for at, moment in enumerate(moments)]


def test_what_was_looked_at_together_has_to_be_so_again():
    def tag(*moments):
        return tag_of_page("t", {"groups": part(moments[0], rows(*moments[1:]))})

    assert tag("2026-01", "2026-02", "2026-02") == tag("2026-03", "2026-04", "2026-04")
    assert tag("2026-01", "2026-01", "2026-02") == tag("2026-02", "2026-02", "2026-01")
    assert tag("2026-01", "2026-02", "2026-02") != tag("2026-03", "2026-04", "2026-05")
    assert tag("2026-01", "2026-02", "2026-02") != tag("2026-03", "2026-03", "2026-03")


def test_a_header_names_so_many_moments_and_the_others_are_what_is_said():
    def made(last):
        moments = [f"2026-01-{day:02d}" for day in range(1, MOMENTS_MAX)]
        return {"groups": part("2025-01-01", rows(*moments, last))}

    one, other = made("2026-02-01"), made("2026-02-02")
    assert ages(one) == ages(other)
    assert len(ages(one).removeprefix("groups=").split()) == MOMENTS_MAX
    assert tag_of_page("t", one) != tag_of_page("t", other)


@pytest.mark.parametrize("text", ["2026, groups=1", "a b", 'x","as_of":"2026', "", "2026\n"])
def test_what_is_no_moment_is_said_and_never_in_a_header(text):
    shown = {"groups": part("2025-01-01", [{"ts": text}])}
    assert ages(shown) == "groups=2025-01-01"
    assert tag_of_page("t", shown) != tag_of_page(
        "t", {"groups": part("2025-01-01", [{"ts": "z"}])}
    )
