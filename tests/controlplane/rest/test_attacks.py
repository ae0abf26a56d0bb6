"""What a hostile tenant tries at the doors of alerts, destinations, runbooks and analyses.

The walks of this directory send every address to strangers and to narrow keys; here are the attacks
that need more than an address: files, costs, names that are formulas, addresses inside, blanks of
acts, and what an alert or a check tells of what no grant covers.
"""

import io

import pyarrow.parquet as pq
import pytest

from controlplane.alerts.conditions.types import TOUCHES_MAX, touches
from controlplane.alerts.models import Alert, AlertOverride, Silence
from controlplane.analytics.insights import tallies
from controlplane.analytics.models import AnalyticsRun, GoldGroupLag, LagObjective
from controlplane.common.grants import OPERATOR, VIEWER, Grant, Match, Over, Pattern
from controlplane.notifications.models import Delivery, Destination
from controlplane.operations.models import Plan
from controlplane.runbooks.catalogue import catalogue
from controlplane.topics.models import RetentionLease
from spark_analytics.contracts.analyses import BY_CLUSTER, FORECAST, WHAT_IF, WHAT_IF_GROUPS
from tests.controlplane.analytics import rows as gold
from tests.controlplane.analytics.rollup_rows import T0_MS, stored
from tests.controlplane.rest.teams import HIDDEN, MAIN, key_of, unseen
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db
API = "/api/v1"
OWN_TOPIC, OWN_GROUP = "team-a-x", "team-a-g"
BYTES = ("csv", "parquet")


@pytest.fixture
def reader(world):
    """A key that reads one topic and one group, and nothing else."""
    rows = [
        Grant(role=VIEWER, clusters=MAIN, over=over, names=Pattern(Match.LITERAL, name)).as_row()
        for over, name in ((Over.TOPIC, OWN_TOPIC), (Over.GROUP, OWN_GROUP))
    ]
    return key_of(world.tenant, rows)


@pytest.fixture
def follower(world):
    """As `reader`, and an operator of the two: who follows a runbook is one."""
    rows = [
        Grant(role=OPERATOR, clusters=MAIN, over=over, names=Pattern(Match.LITERAL, name)).as_row()
        for over, name in ((Over.TOPIC, OWN_TOPIC), (Over.GROUP, OWN_GROUP))
    ]
    return key_of(world.tenant, rows)


@pytest.fixture
def editor(world):
    """A key that writes on one cluster."""
    return key_of(world.tenant, [Grant(role=OPERATOR, clusters=MAIN, over=Over.CLUSTER).as_row()])


@pytest.fixture
def rival():
    return client_for(tenant_make("rival"))


@pytest.fixture
def computed(world):
    """Windows and hours of one's own series and of others', on the cluster and on another one."""
    elsewhere = cluster_make(world.tenant, "secret-cluster-2", kind="registered")
    for cluster in (world.cluster, elsewhere):
        pairs = [(OWN_GROUP, OWN_TOPIC), ("secret-readers", "secret-orders")]
        pairs += [(OWN_GROUP, "secret-orders"), ("secret-readers", OWN_TOPIC)]
        for group, topic in pairs:
            stored("group_rollup", cluster.id, 0, group=group, topic=topic, samples=7)
            row = gold.lag_row(cluster.id, T0_MS, group=group, topic=topic)
            GoldGroupLag.objects.create(**row, run_id="r")
        for topic in (OWN_TOPIC, "secret-orders"):
            stored("topic_rollup", cluster.id, 0, topic=topic, records_in=5, busiest_share=0.9)
        stored("cluster_rollup", cluster.id, 0)
    return elsewhere


# -- files --------------------------------------------------------------------------------------
def told(answer, wanted):
    if wanted == "csv":
        return answer.content.decode()
    return str(pq.read_table(io.BytesIO(answer.content)).to_pylist())


def addresses(cluster_id, topic):
    for analysis in BY_CLUSTER:
        name = {
            WHAT_IF.id: f"retention/{topic}/what-if",
            WHAT_IF_GROUPS.id: f"retention/{topic}/what-if/groups",
        }.get(analysis.id, analysis.id)
        yield analysis, f"{API}/clusters/{cluster_id}/analytics/{name}"


@pytest.mark.parametrize("wanted", BYTES)
def test_a_file_holds_nothing_that_no_grant_covers(world, computed, reader, wanted):
    for analysis, where in addresses(world.cluster.id, OWN_TOPIC):
        answer = reader.get(where, {"format": wanted})
        if analysis is FORECAST:
            assert answer.status_code == 404, "it is of the whole cluster"
            continue
        assert answer.status_code == 200, (where, answer.content)
        assert unseen(told(answer, wanted)) == [], where
        assert "other" not in answer["Content-Disposition"]


@pytest.mark.parametrize("wanted", BYTES)
def test_no_file_is_given_of_another_s(world, computed, reader, rival, wanted):
    asked = {"format": wanted}
    for _, where in addresses(world.cluster.id, OWN_TOPIC):
        assert rival.get(where, asked).status_code == 404, where
    for _, where in addresses(computed.id, OWN_TOPIC):
        assert reader.get(where, asked).status_code == 404, where
    for group in ("secret-readers", "no-such"):
        where = f"{API}/clusters/{world.cluster.id}/analytics/lag-objectives"
        assert reader.get(where, {**asked, "group": group}).status_code == 404
    where = f"{API}/clusters/{world.cluster.id}/analytics/retention/secret-orders/what-if"
    assert reader.get(where, asked).status_code == 404
    assert not any(
        name in reader.get(where, asked).content.decode() for name in ("secret-readers",)
    )


@pytest.mark.parametrize(
    "name",
    [
        "=cmd|' /C calc'!A0",
        "+1",
        "-1+1",
        "@SUM(1)",
        "\t=1",
        " =1",
        "\u00a0=1",
        "\u3000=1",
        "\ufeff=1",
        "\u200b=1",
        "\x00=1".replace("\x00", "\x1f"),
        "\uff1d1",
        "\uff0b1",
        "\uff201",
        '"=1',
    ],
)
def test_no_name_is_a_formula_in_a_file(world, computed, name):
    stored("group_rollup", world.cluster.id, 0, group=name, topic="t", samples=7)
    row = gold.lag_row(world.cluster.id, T0_MS, group=name, topic="t")
    GoldGroupLag.objects.create(**row, run_id="r")
    where = f"{API}/clusters/{world.cluster.id}/analytics/lag-objectives"
    text = client_for(world.tenant).get(where, {"format": "csv"}).content.decode()
    quoted = name.replace('"', '""')
    if name.startswith('"'):
        assert f'"{quoted}"' in text, "a quote is data, and closes nothing"
        return
    assert f'"\'{quoted}"' in text
    assert f'"{quoted}"' not in text


def test_a_file_is_an_export_and_has_a_rate(world, computed, settings, reader):
    settings.RATE_LIMITS = {"exports": "3/hour"}
    where = f"{API}/clusters/{world.cluster.id}/analytics/usage"
    statuses = [reader.get(where, {"format": "csv"}).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]


# -- costs --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("usage", {"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T00:00:00Z"}),
        ("usage", {"from": "2020-01-01T00:00:00Z"}),
        ("hot-partitions", {"from": "2024-01-01T00:00:00Z"}),
        ("change-impact", {"from": "2024-01-01T00:00:00Z"}),
        ("change-impact", {"hours": "999999"}),
        ("unused-topics", {"idle_s": "1"}),
        ("unused-topics", {"idle_s": "99999999999"}),
        ("disk-forecast", {"capacity_bytes": "99999999999999999999999"}),
        ("lag-objectives", {"seconds": "1e400"}),
        ("lag-objectives", {"share": "0.9999999"}),
        ("retention/orders/what-if", {"retention_s": "999999999"}),
        ("chart", {"points": "100000"}),
        ("chart", {"measure": "lag_seconds); drop table gold_group_lag; --"}),
    ],
)
def test_what_would_cost_too_much_is_refused_by_its_name(world, computed, path, query):
    answer = client_for(world.tenant).get(
        f"{API}/clusters/{world.cluster.id}/analytics/{path}", query
    )
    assert answer.status_code == 422, (path, query, answer.content)
    assert any(name in answer.content.decode() for name in query)


def test_a_chart_of_all_time_has_no_more_points_than_asked(world, computed):
    where = f"{API}/clusters/{world.cluster.id}/analytics/chart"
    query = {"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T00:00:00Z", "points": "1000"}
    answer = client_for(world.tenant).get(where, query)
    assert answer.status_code == 200, answer.content
    assert 0 < len(answer.json()["ts_ms"]) <= 1001
    later = {"from": "9999-12-30T00:00:00Z", "to": "9999-12-31T00:00:00Z"}
    assert client_for(world.tenant).get(where, later).status_code == 200
    before = {"from": "0001-01-01T00:00:00Z", "to": "0001-01-02T00:00:00Z"}
    assert client_for(world.tenant).get(where, before).status_code == 200


def test_a_lag_that_nobody_set_reads_so_many_windows_and_no_more(
    world, computed, reader, monkeypatch
):
    monkeypatch.setattr(tallies, "WINDOWS_MAX", 0)
    where = f"{API}/clusters/{world.cluster.id}/analytics/lag-objectives"
    for seconds in range(3):
        answer = reader.get(where, {"seconds": seconds})
        assert answer.status_code == 422
        assert unseen(answer.content.decode()) == []


# -- rules of the tenant ------------------------------------------------------------------------
def test_who_has_a_part_silences_overrides_and_diverts_nothing(world, ids, reader, editor, rival):
    before = (AlertOverride.objects.count(), Silence.objects.count(), Destination.objects.count())
    ends = ids["silence_end"]
    hook = {
        "name": "mine",
        "kind": "webhook",
        "config": {"url": "https://hooks.example.org/"},
        "secrets": {"signing_secret": "s" * 24},
    }
    attacks = [
        ("post", "alert-overrides", {"rule": "group-losing-data", "enabled": False}),
        ("put", f"alert-overrides/{ids['override']}", {"enabled": False}),
        ("delete", f"alert-overrides/{ids['override']}", None),
        ("post", "silences", {"ends_at": ends, "reason": "quiet"}),
        ("delete", f"silences/{ids['silence']}", None),
        ("post", "destinations", hook),
        ("put", f"destinations/{ids['destination']}", hook),
        ("delete", f"destinations/{ids['destination']}", None),
        ("post", f"destinations/{ids['destination']}/test", {}),
        ("post", f"deliveries/{ids['delivery']}/resend", {}),
        ("post", "lag-objectives", {"seconds": 1e6, "share": 0.5}),
        ("put", f"lag-objectives/{ids['objective']}", {"seconds": 1e6, "share": 0.5}),
        ("delete", f"lag-objectives/{ids['objective']}", None),
        ("post", "operator/analytics/backfills", {"job": "hourly"}),
        ("post", f"analytics/runs/{ids['run']}/cancellation", {}),
    ]
    looks = ["destinations", "deliveries", "alert-overrides", "silences", "lag-objectives"]
    for who, client in {"reader": reader, "editor": editor}.items():
        for method, path, body in attacks:
            answer = getattr(client, method)(f"{API}/{path}", body, format="json")
            assert answer.status_code in {403, 404}, (who, method, path, answer.content)
        for path in looks:
            assert client.get(f"{API}/{path}").status_code == 403, (who, path)
    for method, path, body in attacks:
        if any(found in path for found in ids.values()):
            answer = getattr(rival, method)(f"{API}/{path}", body, format="json")
            assert answer.status_code in {403, 404}, (method, path, answer.content)
    after = (AlertOverride.objects.count(), Silence.objects.count(), Destination.objects.count())
    assert after == before
    assert AlertOverride.objects.get(pk=ids["override"]).enabled
    assert LagObjective.objects.get(pk=ids["objective"]).seconds == 60
    assert Delivery.objects.get(pk=ids["delivery"]).attempts == 0
    assert not AnalyticsRun.objects.exclude(pk=ids["run"]).exists()


def test_a_backfill_is_not_there_for_a_tenant(world, computed, editor, rival):
    span = {"from": "2026-01-02T03:00:00Z", "to": "2026-01-02T05:00:00Z", "job": "hourly"}
    for client in (client_for(world.tenant), editor, rival):
        answer = client.post(f"{API}/operator/analytics/backfills", span, format="json")
        assert answer.status_code == 404
    assert not AnalyticsRun.objects.filter(trigger="backfill").exists()


def test_an_objective_of_a_stranger_s_cluster_is_none(world, ids):
    stranger = tenant_make("stranger")
    client = client_for(stranger)
    body = {"cluster_id": world.cluster.id, "seconds": 1, "share": 0.9}
    for cluster_id in (world.cluster.id, "kc_0000000000000000000"):
        answer = client.post(
            f"{API}/lag-objectives", {**body, "cluster_id": cluster_id}, format="json"
        )
        assert answer.status_code == 404, answer.content
    assert not LagObjective.objects.filter(tenant=stranger).exists()


# -- what an alert tells ------------------------------------------------------------------------
def burning(world, topics):
    names = tuple(topics)
    return Alert.objects.create(
        tenant=world.tenant,
        cluster_id=world.cluster.id,
        cluster_name="main",
        rule="objective-burning",
        subject=f"group/{OWN_GROUP}",
        state="firing",
        severity="critical",
        summary=f"burns on {', '.join(names[:5])}",
        members=list(names[:50]),
        touches=[list(pair) for pair in touches(("group", OWN_GROUP), "topic", names)],
        started_at="2026-01-01T00:00:00Z",
        refreshed_at="2026-01-01T00:00:00Z",
    )


def test_a_burn_is_shown_to_who_sees_all_of_it(world, ids, reader, editor):
    own, mixed = burning(world, [OWN_TOPIC]), None
    assert reader.get(f"{API}/alerts/{own.id}").status_code == 200
    own.delete()
    mixed = burning(world, [OWN_TOPIC, "secret-orders"])
    assert reader.get(f"{API}/alerts/{mixed.id}").status_code == 404
    assert unseen(reader.get(f"{API}/alerts").content.decode()) == []
    assert editor.get(f"{API}/alerts/{mixed.id}").status_code == 200


def test_of_more_topics_than_are_listed_only_who_sees_the_cluster_reads(world, ids, editor):
    """The first hundred are covered, and nobody wrote down what the next one is."""
    names = [f"team-a-{at:03d}" for at in range(TOUCHES_MAX)]
    prefix = Pattern(Match.PREFIX, "team-a-")
    rows = [
        Grant(role=VIEWER, clusters=MAIN, over=over, names=prefix).as_row()
        for over in (Over.TOPIC, Over.GROUP)
    ]
    part = key_of(world.tenant, rows)
    all_listed = burning(world, names)
    assert part.get(f"{API}/alerts/{all_listed.id}").status_code == 200
    all_listed.delete()
    more = burning(world, [*names, "secret-orders"])
    assert part.get(f"{API}/alerts/{more.id}").status_code == 404
    assert editor.get(f"{API}/alerts/{more.id}").status_code == 200


def test_nobody_acknowledges_what_they_only_read(world, ids, reader, rival):
    alert = burning(world, [OWN_TOPIC])
    where = f"{API}/alerts/{alert.id}/acknowledgement"
    assert reader.post(where, {"note": "x"}, format="json").status_code == 403
    assert rival.post(where, {"note": "x"}, format="json").status_code == 404
    alert.refresh_from_db()
    assert alert.state == "firing"


# -- runbooks -----------------------------------------------------------------------------------
def begun(client, world, **about):
    body = {"cluster_id": world.cluster.id, "group": OWN_GROUP, "topic": OWN_TOPIC, **about}
    return client.post(f"{API}/runbooks/objective-burning/runs", body, format="json")


def test_a_check_tells_nothing_that_no_grant_covers(world, teams, computed, follower):
    LagObjective.objects.create(
        tenant=world.tenant, group=OWN_GROUP, seconds=60, share=0.99, created_by="x"
    )
    run = begun(follower, world)
    assert run.status_code == 201, run.content
    for check in catalogue()["objective-burning"].checks:
        path = f"{API}/runbook-runs/{run.json()['id']}/checks/{check.number}"
        answer = follower.post(path, {}, format="json")
        assert answer.status_code in {200, 201}, answer.content
        assert unseen(answer.content.decode()) == [], check.name


def test_a_run_about_another_s_cluster_or_group_does_not_begin(
    world, teams, computed, reader, follower
):
    rival = client_for(tenant_make("rival"))
    assert begun(rival, world).status_code == 404
    assert begun(reader, world).status_code == 403
    assert begun(follower, world, cluster_id=computed.id).status_code == 404
    for name in ("secret-readers", "no-such"):
        assert begun(follower, world, group=name).status_code == 403


def test_an_alert_that_is_named_tells_nothing_of_itself(world, teams, follower):
    """Its id is written down; whether there is such an alert is not even looked up."""
    alert = burning(world, ["secret-orders"])
    found = begun(follower, world, alert_id=alert.id)
    none = begun(follower, world, alert_id="al_00000000000000000000")
    assert (found.status_code, none.status_code) == (201, 201)
    assert unseen(found.content.decode()) == []
    assert found.json().keys() == none.json().keys()


@pytest.mark.parametrize(
    "inputs",
    [
        {"cluster": "kc_0000000000000000000"},
        {"topic": "secret-orders"},
        {"name": "secret-orders"},
        {"partitions": {"$ne": 1}},
        {"partitions": '6, "name": "secret-orders"'},
        {"partitions": '{"name": "secret-orders"}'},
        {"partitions": "{topic}"},
        {"partitions": "__import__('os').system('true')"},
        {"__proto__": {"name": "secret-orders"}},
    ],
)
def test_a_blank_of_an_act_is_one_value_and_names_nothing_else(world, teams, editor, inputs):
    leases = RetentionLease.objects.count()
    run = begun(editor, world).json()
    acts = catalogue()["objective-burning"].acts
    number = next(block.number for block in acts if block.name == "topic.partitions")
    before = set(Plan.objects.values_list("pk", flat=True))
    where = f"{API}/runbook-runs/{run['id']}/acts/{number}"
    answer = editor.post(where, {"inputs": {"partitions": 6, **inputs}}, format="json")
    made = Plan.objects.exclude(pk__in=before)
    assert answer.status_code in {200, 201, 409, 422}, answer.content
    for plan in made:
        assert (plan.cluster_id, plan.inputs["name"]) == (world.cluster.id, OWN_TOPIC)
        assert plan.inputs["partitions"] == 6
    assert RetentionLease.objects.count() == leases, "nothing is done by a plan"


def test_hidden_names_are_all_names_that_these_tests_look_for():
    assert {"secret-orders", "secret-readers"} <= set(HIDDEN)
