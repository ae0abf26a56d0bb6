"""`/timeline` and `/deployments`: what is listed for whom, what is refused."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from controlplane.alerts.models import Alert, AlertTransition
from controlplane.audit.models import AuditEvent
from controlplane.common.grants import OPERATOR, VIEWER, Grant, Match, Over, Pattern
from controlplane.common.times import iso
from controlplane.timeline import services
from controlplane.timeline.models import TimelineEvent
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import MAIN, key_of, member_of
from tests.controlplane.support import client_for, cluster_make, tenant_make

API = "/api/v1"


def ago(**span):
    return timezone.now() - timedelta(**span)


def event_make(world, kind, at=None, **more):
    values = {
        "tenant": world.tenant,
        "cluster_id": world.cluster.id,
        "kind": kind,
        "area": "outline",
        "at": at or timezone.now(),
    }
    return TimelineEvent.objects.create(**{**values, **more})


def of_topic(world, name, **more):
    values = {"area": "topic", "name": name, "subject": f"topic/{name}", **more}
    return event_make(world, "topic-created", after={"partitions": 1}, **values)


def alert_make(world, at, **more):
    values = {
        "cluster_id": world.cluster.id,
        "cluster_name": "main",
        "rule": "broker-down",
        "severity": "critical",
        "summary": "broker 2 is not in the cluster",
        "state": "firing",
    }
    alert = Alert.objects.create(
        tenant=world.tenant, started_at=at, refreshed_at=at, **{**values, **more}
    )
    for before, after in (("pending", "firing"), ("firing", "firing")):  # and got worse
        AlertTransition.objects.create(
            alert=alert, at=at, before=before, after=after, severity="critical"
        )
    return alert


@pytest.fixture
def owner(world):
    return client_for(world.tenant)


def listed(client, query=""):
    answer = client.get(f"{API}/timeline{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


def texts(client, query=""):
    return [row["text"] for row in listed(client, query)]


def marked(client, **body):
    return client.post(f"{API}/deployments", {"text": "shop 2.0", **body}, format="json")


# -- one list out of many ---------------------------------------------------------------------
def test_operations_alerts_and_observations_are_one_list(world, owner):
    event_make(world, "broker-down", ago(hours=3), subject="broker/2")
    alert = alert_make(world, ago(hours=2))
    operation = world.run("topic.create", name="orders", partitions=1, replication_factor=1)
    rows = listed(owner)
    assert [row["kind"] for row in rows][:1] == ["operation-ended"]
    assert [row["kind"] for row in rows][-3:] == ["operation-began", "alert-fired", "broker-down"]
    fired, down = rows[-2], rows[-1]
    assert (fired["alert_id"], fired["runbook"], fired["tone"]) == (alert.id, "broker-down", "bad")
    assert (down["text"], down["cluster"]) == ("Broker 2 left the cluster.", "main")
    ended = rows[0]
    assert (ended["operation_id"], ended["after"]) == (operation.id, {"state": "succeeded"})
    assert ended["text"].startswith("Done: ")
    assert ended["by"] == "user:test"


def test_an_operation_that_undoes_another_is_told_as_that(world, owner):
    first = world.run("topic.create", name="orders", partitions=1, replication_factor=1)
    second = world.run("topic.create", name="other", partitions=1, replication_factor=1)
    type(second).objects.filter(pk=second.pk).update(reverts=first)
    found = {row["operation_id"]: row for row in listed(owner, "?kind=operation-undone")}
    assert list(found) == [second.id]
    assert found[second.id]["text"].startswith("Undone: ")
    ended = [row["operation_id"] for row in listed(owner, "?kind=operation-ended")]
    assert ended == [first.id]


def test_pages_go_on_where_they_stopped_also_at_one_moment(world, owner):
    at = ago(hours=1)
    made = {event_make(world, "broker-up", at, subject=f"broker/{n}").id for n in range(7)}
    alert_make(world, at)
    world.run("topic.create", name="orders", partitions=1, replication_factor=1)
    whole = [row["id"] for row in listed(owner, "?page_size=100")]
    seen, cursor = [], ""
    for _ in range(20):
        page = owner.get(f"{API}/timeline?page_size=2{cursor}").json()
        assert len(page["data"]) <= 2
        seen += [row["id"] for row in page["data"]]
        if not page["page"]["has_more"]:
            break
        cursor = f"&cursor={page['page']['next']}"
    assert seen == whole
    assert made <= set(seen)
    assert len(set(seen)) == len(seen)


def test_the_list_is_filtered(world, owner):
    event_make(world, "broker-down", ago(hours=5), subject="broker/2")
    event_make(world, "controller-changed", ago(hours=4), before={"controller": 1}, after={})
    of_topic(world, "orders", at=ago(hours=3))
    of_topic(world, "clicks", at=ago(hours=2))
    kinds = lambda query: [row["kind"] for row in listed(owner, query)]  # noqa: E731 - a short name
    assert kinds("?kind=broker-down,controller-changed") == ["controller-changed", "broker-down"]
    assert [row["subject"] for row in listed(owner, "?subject=topic/orders")] == ["topic/orders"]
    assert kinds("?subject=topic/orders&subject=cluster") == [
        "topic-created",
        "controller-changed",
        "broker-down",
    ]
    between = f"?from={iso(ago(hours=4, minutes=30))}&to={iso(ago(hours=2, minutes=30))}"
    assert kinds(between) == ["topic-created", "controller-changed"]
    assert len(listed(owner, f"?cluster_id={world.cluster.id}")) == 4
    for query, pointer in (
        ("kind=bogus", "/kind"),
        ("subject=orders", "/subject"),
        ("subject=topic/", "/subject"),
        ("&".join(f"subject=topic/t{n}" for n in range(11)), "/subject"),
        ("from=never", "/from"),
        ("from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z", "/from"),
        ("cursor=bogus", "/cursor"),
        ("page_size=0", "/page_size"),
        ("bogus=1", "/bogus"),
    ):
        refusal = problem(owner.get(f"{API}/timeline?{query}"), 422)
        assert refusal["errors"][0]["pointer"] == pointer, query


def test_nothing_older_than_what_is_kept_is_shown_of_any_source(world, owner, settings):
    settings.TIMELINE_DAYS = 7
    event_make(world, "broker-down", ago(days=8), subject="broker/2")
    alert_make(world, ago(days=8))
    assert listed(owner, f"?from={iso(ago(days=30))}") == []
    assert owner.get(f"{API}/timeline").json()["kept_from"] < iso(ago(days=6, hours=23))


def test_a_deployment_of_the_whole_tenant_is_one_of_each_cluster(world, owner):
    other = cluster_make(world.tenant, "other")
    marked(owner, text="everywhere")
    marked(owner, text="elsewhere", cluster_id=other.id)
    assert texts(owner, f"?cluster_id={world.cluster.id}") == ["everywhere"]
    assert texts(owner, f"?cluster_id={world.cluster.id}&subject=cluster") == ["everywhere"]


def test_the_events_of_a_deleted_cluster_stay(world, owner):
    event_make(world, "broker-down", subject="broker/2")
    world.cluster.deleted_at = timezone.now()
    world.cluster.save()
    assert texts(owner, f"?cluster_id={world.cluster.id}") == ["Broker 2 left the cluster."]


# -- who sees what ----------------------------------------------------------------------------
def team(role, over, prefix="team-a-"):
    return Grant(role=role, clusters=MAIN, over=over, names=Pattern(Match.PREFIX, prefix))


def test_another_tenants_timeline_is_not_there(world):
    event_make(world, "broker-down", subject="broker/2")
    row = event_make(world, "deployment", text="secret", area="cluster")
    alert_make(world, timezone.now())
    world.run("topic.create", name="orders", partitions=1, replication_factor=1)
    rival = client_for(tenant_make("rival"))
    assert listed(rival) == []
    assert listed(rival, f"?cluster_id={world.cluster.id}") == []
    problem(rival.get(f"{API}/deployments/{row.id}"), 404)
    problem(rival.delete(f"{API}/deployments/{row.id}"), 404)
    problem(marked(rival, cluster_id=world.cluster.id), 404)
    assert TimelineEvent.objects.filter(pk=row.pk).exists()


def test_a_reader_of_a_part_sees_their_topics_and_the_brokers(world):
    event_make(world, "broker-down", ago(hours=5), subject="broker/2")
    of_topic(world, "team-a-x", at=ago(hours=4))
    for hidden in ("secret", "Team-a-x", "team-ab", "xteam-a-x"):
        of_topic(world, hidden, at=ago(hours=3))
    event_make(world, "deployment", text="secret", area="cluster")
    event_make(world, "deployment", text="of all", area="tenant", cluster_id="")
    event_make(world, "deployment", text="secret", area="group", name="g", subject="group/g")
    event_make(world, "topic-created", ago(hours=2), count=31, more=True, before={}, after={})
    alert_make(world, timezone.now())
    world.run("topic.create", name="hidden", partitions=1, replication_factor=1)
    for reader in (
        member_of(world.tenant, [team(VIEWER, Over.TOPIC)], "viewer"),
        key_of(world.tenant, [team(VIEWER, Over.TOPIC).as_row()]),
    ):
        rows = listed(reader)
        assert [row["text"] for row in rows] == [
            "Some more topics were created at the same time.",
            "Topic team-a-x was created: 1 partition.",
            "Broker 2 left the cluster.",
        ]
        assert rows[0]["count"] is None, "how many others' topics there are is not theirs to know"
        for subject in ("topic/secret", "group/g"):
            assert listed(reader, f"?subject={subject}") == []


def test_a_cluster_that_no_grant_covers_is_not_there(world):
    other = cluster_make(world.tenant, "other")
    event_make(world, "broker-down", subject="broker/2", cluster_id=other.id)
    reader = member_of(world.tenant, [Grant(role=VIEWER, clusters=MAIN)], "viewer")
    assert listed(reader) == []
    assert listed(reader, f"?cluster_id={other.id}") == []


# -- deployments ------------------------------------------------------------------------------
def test_a_deployment_is_marked_seen_and_recorded(world, owner):
    answer = marked(owner, cluster_id=world.cluster.id, topic="orders", text=" shop\n2.0\u202e ")
    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert (made["kind"], made["text"], made["subject"]) == (
        "deployment",
        "shop 2.0",
        "topic/orders",
    )
    assert made["by"] == "user:acme-owner"
    assert listed(owner)[0]["id"] == made["id"]
    assert owner.get(f"{API}/deployments/{made['id']}").json()["text"] == "shop 2.0"
    row = AuditEvent.objects.get(action="deployment.mark")
    assert (row.resource, row.cluster_id) == (f"deployment/{made['id']}", world.cluster.id)
    assert row.touches == [["topic", "orders"]]


def test_a_mark_is_taken_back_and_the_record_keeps_it(world, owner):
    made = marked(owner).json()
    assert owner.delete(f"{API}/deployments/{made['id']}").status_code == 204
    assert listed(owner) == []
    problem(owner.delete(f"{API}/deployments/{made['id']}"), 404)
    assert AuditEvent.objects.get(action="deployment.remove").data["text"] == "shop 2.0"


def test_what_was_observed_is_no_deployment_and_stays(world, owner):
    row = event_make(world, "broker-down", subject="broker/2")
    problem(owner.delete(f"{API}/deployments/{row.id}"), 404)
    assert TimelineEvent.objects.filter(pk=row.pk).exists()


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"text": ""}, "/text"),
        ({"text": " \n "}, "/text"),
        ({"text": "x" * 201}, "/text"),
        ({"text": "\u202e\u200b"}, "/text"),
        ({"topic": "orders"}, "/cluster_id"),
        ({"group": "readers"}, "/cluster_id"),
        ({"topic": "orders", "group": "readers"}, "/group"),
        ({"topic": "x" * 250}, "/topic"),
        ({"bogus": 1}, "/bogus"),
        ({"at": "never"}, "/at"),
        ({"at": iso(ago(hours=25))}, "/at"),
        ({"at": iso(ago(hours=-1))}, "/at"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_field(world, owner, body, pointer):
    refusal = problem(marked(owner, **body), 422)
    assert [each["pointer"] for each in refusal["errors"]] == [pointer]
    assert TimelineEvent.objects.count() == 0


def test_a_deployment_is_of_when_it_happened(world, owner):
    at = ago(hours=2)
    assert marked(owner, at=iso(at)).json()["at"] == iso(at)
    ahead = marked(owner, at=iso(ago(seconds=-30))).json()["at"]
    assert ahead <= iso(timezone.now()), "a clock that is a little ahead marks now"


def test_who_may_write_a_part_marks_that_part_alone(world):
    editor = member_of(world.tenant, [team(OPERATOR, Over.TOPIC), team(VIEWER, Over.GROUP)], "ed")
    of = {"cluster_id": world.cluster.id}
    assert marked(editor, **of, topic="team-a-x").status_code == 201
    problem(marked(editor, **of, topic="secret"), 404)
    problem(marked(editor, **of, group="team-a-g"), 403)
    problem(marked(editor, **of, group="others"), 404)
    problem(marked(editor, **of), 403)
    problem(marked(editor), 403)
    problem(marked(member_of(world.tenant, [team(VIEWER, Over.TOPIC)], "viewer")), 403)
    assert TimelineEvent.objects.count() == 1


def test_a_pipeline_marks_by_its_key_once(world):
    key = key_of(world.tenant, [team(OPERATOR, Over.TOPIC).as_row()])
    body = {"text": "shop 2.0", "cluster_id": world.cluster.id, "topic": "team-a-x"}
    answers = [
        key.post(f"{API}/deployments", body, format="json", HTTP_IDEMPOTENCY_KEY="build-7")
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json()["by"] == "key:narrow"
    assert TimelineEvent.objects.count() == 1


def test_a_mark_of_others_is_not_taken_back_by_who_only_reads(world, owner):
    made = marked(owner, cluster_id=world.cluster.id, topic="team-a-x").json()
    reader = member_of(world.tenant, [team(VIEWER, Over.TOPIC)], "viewer")
    assert [row["removable"] for row in listed(reader)] == [False]
    assert [row["removable"] for row in listed(owner)] == [True]
    problem(reader.delete(f"{API}/deployments/{made['id']}"), 403)
    hidden = marked(owner, cluster_id=world.cluster.id, topic="secret").json()
    editor = member_of(world.tenant, [team(OPERATOR, Over.TOPIC)], "ed")
    problem(editor.delete(f"{API}/deployments/{hidden['id']}"), 404)
    assert editor.delete(f"{API}/deployments/{made['id']}").status_code == 204


def test_a_tenant_marks_a_bounded_number_an_hour(world, owner, monkeypatch):
    monkeypatch.setattr(services, "DEPLOYMENTS_AN_HOUR", 2)
    for _ in range(2):
        assert marked(owner, at=iso(ago(hours=3))).status_code == 201
    answer = marked(owner)
    assert problem(answer, 429)["code"] == "too-many-deployments"
    assert 3500 < int(answer["Retry-After"]) <= 3600
    assert marked(client_for(tenant_make("rival"))).status_code == 201
    # Whoever takes marks back makes no room by it.
    for row in listed(owner):
        assert owner.delete(f"{API}/deployments/{row['id']}").status_code == 204
    problem(marked(owner), 429)
    later = timezone.now() + timedelta(hours=2)
    monkeypatch.setattr(services, "timezone", SimpleNamespace(now=lambda: later))
    assert marked(owner).status_code == 201


def test_nobody_takes_the_marks_of_others(world, owner, monkeypatch):
    monkeypatch.setattr(services, "DEPLOYMENTS_AN_HOUR_OF_ONE", 2)
    narrow = key_of(world.tenant, [team(OPERATOR, Over.TOPIC).as_row()])
    for _ in range(2):
        mark = marked(narrow, cluster_id=world.cluster.id, topic="team-a-x")
        assert mark.status_code == 201, mark.content
    refused = marked(narrow, cluster_id=world.cluster.id, topic="team-a-x")
    assert problem(refused, 429)["detail"] == "2 deployments were marked by you within an hour."
    assert marked(owner).status_code == 201
