"""A broker's log over REST: who sees it, by pages, and what is said when nothing is known."""

import pytest

from controlplane.clusters import host_answers
from controlplane.clusters.models import Broker
from controlplane.clusters.questions import LEVELS, SILENT, Answered, Unanswered, silent
from controlplane.common.grants import Grant, Over
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db
HOSTILE = "<img src=x onerror=alert(1)> \u202e \x1b[31m"


@pytest.fixture
def placed(world):
    Broker.objects.create(
        cluster=world.cluster, broker_id=2, host_id="host-1", address="127.0.0.1",
        client_port=9092, internal_port=9093,
    )  # fmt: skip
    return world


def log(world, query="", client=None, cluster=None, broker=2):
    cluster = cluster or world.cluster
    address = f"/api/v1/clusters/{cluster.id}/brokers/{broker}/log{query}"
    return (client or client_for(world.tenant)).get(address)


def says(world, **body):
    row = {"lines": [], "next": None, "size_bytes": 9, "written_at_ms": 5, **body}
    world.hosts.answers = lambda _: Answered(row, at_ms=7)


def test_lines_come_as_the_agent_says_them_with_their_age(placed):
    lines = [{"text": HOSTILE, "level": "ERROR", "cut": True}]
    says(placed, lines=lines)
    found = log(placed).json()
    assert found["data"] == lines
    assert found["page"] == {"next": None, "has_more": False}
    assert (found["size_bytes"], found["written_at_ms"], found["answered_at_ms"]) == (9, 5, 7)
    [question] = placed.hosts.asked
    key = Broker.objects.get(broker_id=2).key
    assert question.broker == ("host-1", key)
    assert question.args == {"lines": 50, "level": None, "before": None}


def test_a_page_goes_on_where_the_one_before_stopped(placed):
    says(placed, next="77:1000")
    page = log(placed, "?page_size=10&level=WARNING").json()["page"]
    assert page["has_more"]
    assert log(placed, f"?page_size=10&level=WARNING&cursor={page['next']}").status_code == 200
    wanted = {"lines": 10, "level": "WARNING"}
    assert [each.args for each in placed.hosts.asked] == [
        {**wanted, "before": None},
        {**wanted, "before": "77:1000"},
    ]


def test_a_cursor_is_good_for_its_own_broker(placed):
    Broker.objects.create(
        cluster=placed.cluster, broker_id=3, host_id="host-2", address="127.0.0.1",
        client_port=9094, internal_port=9095,
    )  # fmt: skip
    says(placed, next="77:1000")
    cursor = log(placed).json()["page"]["next"]
    found = problem(log(placed, f"?cursor={cursor}", broker=3), 422)
    assert found["errors"][0]["pointer"] == "/cursor"


@pytest.mark.parametrize(
    "body",
    [
        {"lines": None},
        {"lines": "x"},
        {"next": 7},
        {"next": "x" * 500},
        {"next": "é"},
        {"next": ""},
    ],
)
def test_what_a_host_makes_up_is_unknown_and_not_shown(placed, body):
    says(placed, **body)
    assert "cannot be understood" in problem(log(placed), 503)["detail"]


def test_strange_lines_have_the_promised_types(placed):
    says(
        placed,
        lines=[7, None, {"text": 7, "level": "LOUD", "cut": "yes"}, {"text": "a\0\ud800" * 2_000}],
        size_bytes="many",
        written_at_ms=True,
    )
    found = log(placed).json()
    assert found["data"][0] == {"text": "", "level": None, "cut": False}
    assert len(found["data"][1]["text"]) == 2_000
    assert "\0" not in found["data"][1]["text"]
    assert (found["size_bytes"], found["written_at_ms"]) == (None, None)
    assert set(LEVELS) > {row["level"] for row in found["data"]} - {None}


def test_silence_is_unknown_and_never_empty(placed):
    placed.hosts.answers = lambda _: silent(SILENT, None)
    found = problem(log(placed), 503)
    assert (found["code"], found["retryable"]) == ("host-silent", True)
    assert found["detail"] == SILENT
    assert "last_heard_at" not in found, "not known is not said"
    placed.hosts.answers = lambda _: Unanswered("The agent of h says: no.", is_refusal=True)
    found = problem(log(placed), 503)
    assert (found["code"], found["retryable"]) == ("host-refused", False)


def test_without_zookeeper_nothing_is_known(placed):
    placed.hosts.is_away = True
    assert problem(log(placed), 503)["code"] == "zookeeper-away"


def test_a_registered_cluster_s_brokers_are_run_by_others(placed):
    outside = cluster_make(placed.tenant, "outside", kind="registered")
    found = problem(log(placed, cluster=outside), 503)
    assert (found["code"], found["retryable"]) == ("brokers-of-others", False)
    assert placed.hosts.asked == []


def test_only_who_may_change_the_whole_cluster_reads_its_logs(placed):
    says(placed, lines=[{"text": "a name", "level": None, "cut": False}])
    narrow = [Grant(role="operator", over=Over.TOPIC)]
    for client in (client_for(placed.tenant, "viewer"), member_of(placed.tenant, narrow)):
        answer = log(placed, client=client)
        found = problem(answer, 403)
        assert found["detail"] == (
            "Lines of the log are shown to those who may change the cluster."
        )
    assert placed.hosts.asked == []
    assert log(placed, client=client_for(placed.tenant, "operator")).status_code == 200


def test_another_tenant_s_broker_is_not_there(placed):
    stranger = client_for(tenant_make("other"), name="stranger")
    problem(log(placed, client=stranger), 404)
    problem(log(placed, broker=9), 404)
    problem(log(placed, broker="x"), 404)
    assert placed.hosts.asked == []


def test_a_tenant_has_its_share_of_questions_and_leaves_the_others_theirs(placed, monkeypatch):
    """Hosts are shared: whoever asked without an end would leave nobody else an answer."""
    monkeypatch.setattr(host_answers, "OPEN_PER_TENANT", 1)
    rival = cluster_make(tenant_make("rival"), "theirs")
    Broker.objects.create(
        cluster=rival, broker_id=2, host_id="host-1", address="127.0.0.1",
        client_port=9097, internal_port=9098,
    )  # fmt: skip
    meanwhile = []

    def answer(_question):
        placed.hosts.answers = lambda _: Answered({"lines": [], "next": None}, at_ms=7)
        meanwhile.append(log(placed))
        meanwhile.append(log(placed, client=client_for(rival.tenant), cluster=rival))
        return Answered({"lines": [], "next": None}, at_ms=7)

    placed.hosts.answers = answer
    assert log(placed).status_code == 200
    refused, others = meanwhile
    assert problem(refused, 429)["code"] == "too-many-questions"
    assert int(refused["Retry-After"]) > 0
    assert others.status_code == 200
    assert log(placed).status_code == 200, "its share is free again"
