"""A page is not read while nothing that it is made of differs; whatever it says changes its tag.

Each case changes one thing that a page is made of. A page that says something else afterwards must
never be "not modified", and one that says the same must not be read for it.
"""

import copy
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from console.pages.registry import PAGES
from console.revisions import AGES
from controlplane.analytics.models import CollectorState, GroupVerdict
from controlplane.analytics.times import ms_of
from controlplane.clusters.models import Cluster
from controlplane.gateway.errors import unreachable
from controlplane.gateway.types import TP, AclBinding
from controlplane.observed.models import ObservedCluster, ObservedGroup, ObservedTopic
from controlplane.observed.services import observe_touched
from controlplane.operations.models import Operation, Plan
from controlplane.operations.states import SUCCEEDED
from controlplane.tenants.models import Favourite, Membership
from controlplane.topics.models import RetentionLease
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, observed, tenant_make

pytestmark = pytest.mark.django_db
ADDRESSES = {
    "topics": "topics/{cluster}",
    "topics in trouble": "topics/{cluster}?trouble=true",
    "placement": "placement/{cluster}/2",
    "clients": "clients/{cluster}/orders",
    "groups": "groups/{cluster}",
    "groups that lag": "groups/{cluster}?lagging=true&sort=-lag",
}
AS_OF_NOW = "lag"
"""A part that is as of when it is asked for."""
NOT_READ_MAX = 8
"""Statements of an answer whose page is not read: who asks, the cluster, what it is made of."""


@pytest.fixture
def full(world):
    world.gateway.add_topic("orders", partitions=2, rf=3, records=50)
    world.gateway.add_topic("other", rf=1, records=5)
    world.gateway.add_group("readers", {TP("orders", 0): 10})
    world.gateway.acls = {acl("orders")}
    observed(world)
    CollectorState.objects.create(
        pk=world.cluster.id, verdicts_revision="r", verdicts_sampled_ms=ms_of(timezone.now())
    )
    return world


def acl(name):
    return AclBinding(
        principal="User:app", host="*", operation="READ", permission="ALLOW",
        resource_type="TOPIC", resource_name=name, pattern_type="LITERAL",
    )  # fmt: skip


def path(world, name):
    return f"/console/api/pages/{ADDRESSES[name].format(cluster=world.cluster.id)}"


def verified(world, retention_ms):
    about = {
        "tenant": world.tenant,
        "kind": "topic.update",
        "cluster_id": world.cluster.id,
        "resource": "topic/orders",
    }
    configs = {"retention.ms": retention_ms}
    now = timezone.now()
    plan = Plan.objects.create(
        **about, inputs={"name": "orders", "configs": configs, "delete_configs": []},
        diff={"before": {"configs": {}}}, impact={}, preconditions={}, expires_at=now,
    )  # fmt: skip
    return Operation.objects.create(**about, plan=plan, state=SUCCEEDED, finished_at=now)


def lease(world):
    operation = verified(world, "1000")
    RetentionLease.objects.create(
        tenant=world.tenant, cluster=world.cluster, topic="orders", operation=operation,
        held_ms=604_800_000, ends_at=timezone.now(), next_try_at=timezone.now(),
    )  # fmt: skip


def written(world):
    world.gateway.topics["orders"].partitions[0].log_end += 1
    observed(world)


def moved(world):
    world.gateway.topics["orders"].partitions[0].out_of_sync = frozenset({2})
    observed(world)


def made(world):
    world.gateway.add_topic("orders.new", rf=3)
    observed(world)


def deleted(world):
    del world.gateway.topics["other"]
    observed(world)


def configured(world):
    world.gateway.topics["orders"].configs["retention.ms"] = "77"
    observed(world)


def committed(world):
    world.gateway.add_group("readers", {TP("orders", 0): 11})
    observed(world)


def joined(world):
    world.gateway.add_group("late", {TP("orders", 1): 1})
    observed(world)


def ruled(world):
    world.gateway.acls |= {acl("*")}
    observed(world)


def touched(world):
    """As the end of an operation reads it; then a pass that finds nothing else."""
    world.gateway.topics["orders"].partitions[0].log_end += 7
    observe_touched(world.cluster.id, world.gateway, {"topics": ["orders"]})


def touched_and_passed(world):
    touched(world)
    observed(world)


def silent(world):
    world.gateway.offline = True
    observed(world)


def forgotten(world):
    """Nobody looks any more: what is shown becomes old by itself."""
    long_ago = timezone.now() - timedelta(hours=2)
    ObservedCluster.objects.filter(pk=world.cluster.id).update(due_at=long_ago)


def renamed(world):
    Cluster.objects.filter(pk=world.cluster.id).update(name="renamed")


def deleting(world):
    Cluster.objects.filter(pk=world.cluster.id).update(phase="DELETING")


def drifted(world):
    verified(world, "1234")


CHANGES = [
    written, moved, made, deleted, configured, committed, joined, ruled, touched,
    touched_and_passed, silent, forgotten, renamed, deleting, drifted, lease,
]  # fmt: skip


def said(answer):
    """What a page says, without how old it is."""
    parts = copy.deepcopy(answer.json()["parts"])
    for part in parts.values():
        _without(part, part["as_of"])
    return parts


def _without(value, moment):
    if isinstance(value, dict):
        for key, inner in value.items():
            if inner == moment and key == "as_of":
                value[key] = None
            else:
                _without(inner, moment)
    elif isinstance(value, list):
        for inner in value:
            _without(inner, moment)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ADDRESSES)
def test_whatever_changes_what_a_page_says_changes_its_tag(full, name, change):
    client = client_for(full.tenant)
    before = client.get(path(full, name))
    change(full)
    again = client.get(path(full, name), HTTP_IF_NONE_MATCH=before["ETag"])
    after = client.get(path(full, name))
    assert (again.status_code == 304) == (said(before) == said(after)), change.__name__
    if again.status_code == 304:
        told = [pair.partition("=") for pair in again[AGES].split(", ")]
        shown = after.json()["parts"]
        assert [part for part, _, _ in told] == list(shown)
        for part, _, as_of in told:
            assert as_of == shown[part]["as_of"] or part == AS_OF_NOW
        assert again["ETag"] == after["ETag"]


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_page_that_was_made_of_just_this_is_not_read(full, name):
    client = client_for(full.tenant)
    tag = client.get(path(full, name))["ETag"]
    observed(full)
    with CaptureQueriesContext(connection) as asked:
        again = client.get(path(full, name), HTTP_IF_NONE_MATCH=tag)
    assert (again.status_code, again["ETag"], again["Cache-Control"]) == (304, tag, "no-store")
    statements = [each["sql"] for each in asked]
    assert len(statements) <= NOT_READ_MAX
    for model in (ObservedTopic, ObservedGroup, GroupVerdict):
        assert not [sql for sql in statements if model._meta.db_table in sql]


def test_what_differs_elsewhere_is_read_once_and_then_known_again(full):
    client, address = client_for(full.tenant), path(full, "topics") + "?q=other"
    first = client.get(address)["ETag"]
    written(full)  # another topic
    second = client.get(address, HTTP_IF_NONE_MATCH=first)
    assert (second.status_code, second["ETag"] == first) == (304, False)
    assert client.get(address, HTTP_IF_NONE_MATCH=second["ETag"])["ETag"] == second["ETag"]


def test_a_tag_is_nobody_elses(full):
    tag = client_for(full.tenant).get(path(full, "topics"))["ETag"]
    other = client_for(tenant_make("other"))
    other.raise_request_exception = False
    assert other.get(path(full, "topics"), HTTP_IF_NONE_MATCH=tag).status_code == 404
    theirs = cluster_make(tenant_make("other"), "theirs")
    address = f"/console/api/pages/topics/{theirs.id}"
    assert other.get(address, HTTP_IF_NONE_MATCH=tag).status_code != 304


def test_a_tag_is_of_what_its_viewer_sees(full):
    tag = client_for(full.tenant).get(path(full, "topics"))["ETag"]
    answer = member_of(full.tenant).get(path(full, "topics"), HTTP_IF_NONE_MATCH=tag)
    assert (answer.status_code, answer.json()["parts"]["topics"]["data"]) == (200, [])
    own = answer["ETag"]
    assert (
        client_for(full.tenant).get(path(full, "topics"), HTTP_IF_NONE_MATCH=own).status_code == 200
    )


def test_a_star_is_still_read(full):
    """Whoever holds anything at all: the page has to be there."""
    client = client_for(full.tenant)
    there = client.get(path(full, "clients"), HTTP_IF_NONE_MATCH="*")
    assert there.status_code == 304
    client.raise_request_exception = False
    gone = path(full, "clients").replace("orders", "none")
    assert client.get(gone, HTTP_IF_NONE_MATCH="*").status_code == 404


def test_a_made_up_tag_is_not_taken(full):
    client = client_for(full.tenant)
    first, second = client.get(path(full, "topics"))["ETag"].strip('W/"').split(".")
    halves = (f'"{second}"', f'W/"{second}.{first}"', f'"{first[::-1]}.{second[::-1]}"', '"."')
    for made_up in halves:
        assert client.get(path(full, "topics"), HTTP_IF_NONE_MATCH=made_up).status_code == 200


def test_a_part_that_failed_is_tried_again(full, monkeypatch):
    """Its reason is no source: it would be told as not modified until something else differs."""
    client = client_for(full.tenant)

    def fails(*_args, **_more):
        raise unreachable("broker 1 did not answer")

    with monkeypatch.context() as broken:
        broken.setattr("console.pages.topics.topic_row", fails)
        failed = client.get(path(full, "topics"))
    assert failed.json()["parts"]["topics"]["status"] != "ok"
    assert "." not in failed["ETag"]
    again = client.get(path(full, "topics"), HTTP_IF_NONE_MATCH=failed["ETag"])
    assert (again.status_code, again.json()["parts"]["topics"]["status"]) == (200, "ok")


def test_what_somebody_has_marked_is_a_part_of_what_they_see(full):
    client = client_for(full.tenant)
    address = path(full, "topics") + "?favourites=first"
    tag = client.get(address)["ETag"]
    member = Membership.objects.filter(tenant=full.tenant).get()
    Favourite.objects.create(
        tenant=full.tenant, user=member.user, kind="topic", cluster_id=full.cluster.id, name="other"
    )
    answer = client.get(address, HTTP_IF_NONE_MATCH=tag)
    assert answer.status_code == 200
    assert answer.json()["parts"]["topics"]["data"][0]["name"] == "other"


def test_every_page_with_sources_is_among_these():
    known = {name.partition(" ")[0] for name in ADDRESSES}
    assert {name for name, page in PAGES.items() if page.sources is not None} == known
