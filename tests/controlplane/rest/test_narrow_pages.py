"""What a grant does not cover is not there between the rows of a page either.

Filters ask about names: a page that is short, or says that there is more, because of rows that were
left out would answer about them. So a page is filled with what may be seen, and a cursor says
nothing of the row that it stands for.
"""

import base64
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.alerts.models import Alert, AlertTransition
from controlplane.alerts.selectors import open_alerts
from controlplane.audit.services import About, audit_record
from controlplane.common import paging
from controlplane.common.grants import LIMITED, scope_of
from controlplane.operations.selectors import operation_list
from tests.controlplane.rest.teams import ROWS, key_of, member_of
from tests.controlplane.support import ACTOR, client_for

API = "/api/v1"


@pytest.fixture
def team(world):
    return key_of(world.tenant)


def team_scope():
    return scope_of(LIMITED, ROWS)


def noted(world, resource, count=1):
    area, _, name = resource.partition("/")
    about = About(
        cluster_id=world.cluster.id, cluster_name=world.cluster.name, touches=[(area, name)]
    )
    for _ in range(count):
        audit_record(
            tenant_id=world.tenant.id,
            actor=ACTOR,
            action="topic.update",
            resource=resource,
            data={},
            about=about,
        )


def fired(world, group, times=1):
    """An alert about the group that has fired so often, and resolved between."""
    at = timezone.now() - timedelta(hours=1)
    alert, _ = Alert.objects.get_or_create(
        tenant=world.tenant,
        cluster_id=world.cluster.id,
        cluster_name="main",
        rule="group-stopped",
        subject=f"group/{group}",
        defaults={
            "severity": "critical",
            "touches": [["group", group]],
            "summary": f"{group} stands still",
            "state": "firing",
            "started_at": at,
            "refreshed_at": at,
        },
    )
    for _ in range(times):
        AlertTransition.objects.create(
            alert=alert, at=at, before="pending", after="firing", severity="critical"
        )


def page(client, address):
    answer = client.get(f"{API}/{address}")
    assert answer.status_code == 200, answer.content
    found = answer.json()
    return [row.get("resource") or row.get("subject") for row in found["data"]], found["page"]


def listed(client, address):
    """All pages of a list, and how many they were."""
    rows, pages, cursor = [], 0, ""
    while pages < 50:
        found, at = page(client, address + cursor)
        rows, pages = rows + found, pages + 1
        if not at["has_more"]:
            return rows, pages
        cursor = f"&cursor={at['next']}"
    raise AssertionError(f"{address} has no end")


@pytest.mark.parametrize("size", [1, 2, 50])
def test_a_filter_of_the_record_says_nothing_of_names_that_no_grant_covers(world, team, size):
    noted(world, "topic/secret-orders", 7)
    nothing = page(team, f"audit-events?resource=topic/zzz&page_size={size}")
    assert page(team, f"audit-events?resource=topic/secret&page_size={size}") == nothing
    owner = client_for(world.tenant)
    assert len(listed(owner, "audit-events?resource=topic/secret&page_size=2")[0]) == 7


@pytest.mark.parametrize("size", [1, 2, 50])
def test_the_timeline_says_nothing_of_subjects_that_no_grant_covers(world, team, size):
    fired(world, "secret-readers", 7)
    nothing = page(team, f"timeline?subject=group/zzz&page_size={size}")
    assert page(team, f"timeline?subject=group/secret-readers&page_size={size}") == nothing
    assert page(team, f"timeline?kind=alert-fired&page_size={size}") == nothing
    assert page(team, f"alerts?rule=group-stopped&page_size={size}") == nothing


def test_a_page_is_full_of_what_may_be_seen(world, team):
    for number in range(5):
        noted(world, "topic/secret-orders", 3)
        noted(world, "topic/team-a-x")
        fired(world, f"secret-readers-{number}", 3)
        fired(world, f"team-a-{number}")
    rows, pages = listed(team, "audit-events?resource=topic/&page_size=2")
    assert (rows, pages) == (["topic/team-a-x"] * 5, 3)
    for address in ("timeline?kind=alert-fired&page_size=2", "alerts?state=open&page_size=2"):
        rows, pages = listed(team, address)
        assert (rows, pages) == ([f"group/team-a-{at}" for at in (4, 3, 2, 1, 0)], 3), address


def test_what_lies_behind_more_hidden_rows_than_one_page_looks_at_is_reached(
    world, team, monkeypatch
):
    monkeypatch.setattr(paging, "LOOKED_AT_MAX", 10)
    noted(world, "topic/team-a-x")
    noted(world, "topic/secret-orders", 35)
    noted(world, "topic/team-a-x")
    rows, pages = listed(team, "audit-events?resource=topic/&page_size=5")
    assert rows == ["topic/team-a-x"] * 2
    assert pages == 4


def test_a_cursor_says_nothing_of_its_row(world):
    owner = client_for(world.tenant)
    fired(world, "secret-readers", 3)
    fired(world, "secret-writers")
    for address in ("timeline?page_size=1", "alerts?page_size=1"):
        at = page(owner, address)[1]["next"]
        parts = re.split(r"[:.]", at)
        plain = b"".join(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in parts)
        newest = Alert.objects.order_by("-pk").first()
        assert newest.pk.encode() not in plain
        assert newest.started_at.isoformat()[:10].encode() not in plain


def test_a_cursor_is_good_for_its_own_list_alone(world):
    owner = client_for(world.tenant)
    fired(world, "team-a-g")
    fired(world, "team-a-h")
    of_alerts = page(owner, "alerts?page_size=1")[1]["next"]
    for cursor in (of_alerts, of_alerts[:-2], "x", "a:b:c", "gAAAAA"):
        answer = owner.get(f"{API}/timeline?page_size=1&cursor={cursor}")
        assert answer.status_code == 422, cursor
        assert answer.json()["errors"][0]["pointer"] == "/cursor"


def test_open_alerts_of_others_hide_none_of_ones_own(world, team):
    fired(world, "team-a-g")
    for number in range(210):
        fired(world, f"secret-{number}")
    found = open_alerts(world.tenant, team_scope(), world.cluster.id, 200)
    assert [row.subject for row in found] == ["group/team-a-g"]
    # The page that somebody looks at in the morning says so, too.
    page = member_of(world.tenant).get(f"/console/api/pages/cluster/{world.cluster.id}").json()
    said = [row["group"] for row in page["parts"]["attention"]["data"] if row["group"]]
    assert said == ["team-a-g"]


def test_operations_of_others_hide_none_of_ones_own(world):
    world.run("topic.create", name="team-a-x", partitions=1, replication_factor=1)
    for number in range(4):
        world.run("topic.create", name=f"secret-{number}", partitions=1, replication_factor=1)
    found = operation_list(world.tenant, team_scope(), limit=2)
    assert [row["resource"] for row in found] == ["topic/team-a-x"]
