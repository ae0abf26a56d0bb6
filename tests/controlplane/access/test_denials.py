"""Denied attempts over REST: of every broker together, for whom, and what is said of the unknown."""

import pytest

from controlplane.access.denials import BROKERS_ASKED_MAX
from controlplane.clusters.models import Broker
from controlplane.clusters.questions import SILENT, Answered, Unanswered
from controlplane.common.grants import Grant, Over
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db
ATTEMPT = {
    "event": "denied",
    "principal": "User:ann",
    "operation": "READ",
    "resource": "TOPIC:LITERAL:a:b",
    "host": "10.0.0.1",
    "api": "Fetch",
    "count": 2,
    "first_ms": 10,
    "last_ms": 20,
}


def add_broker(world, number):
    Broker.objects.create(
        cluster=world.cluster, broker_id=number, host_id=f"host-{number}", address="127.0.0.1",
        client_port=9092, internal_port=9093,
    )  # fmt: skip


@pytest.fixture
def placed(world):
    for number in (1, 2):
        add_broker(world, number)
    return world


def says(world, attempts_by_host):
    def answer(question):
        found = attempts_by_host.get(question.broker[0])
        if not isinstance(found, list):
            return found or Unanswered(SILENT)
        body = {"attempts": found, "since_ms": 5, "is_whole": True, "held_back": 1, "left_out": 0}
        return Answered(body, at_ms=30)

    world.hosts.answers = answer


def denials(world, query="", client=None, cluster=None):
    cluster = cluster or world.cluster
    address = f"/api/v1/clusters/{cluster.id}/access/denials{query}"
    return (client or client_for(world.tenant)).get(address)


def test_alike_attempts_of_several_brokers_are_one_with_the_newest_first(placed):
    later = {**ATTEMPT, "last_ms": 40, "first_ms": 3, "count": 5}
    login = {**ATTEMPT, "event": "login-failed", "resource": "User:eve", "last_ms": 30}
    says(placed, {"host-1": [ATTEMPT, login], "host-2": [later]})
    found = denials(placed).json()
    first, second = found["data"]
    assert (first["count"], first["first_ms"], first["last_ms"]) == (7, 3, 40)
    assert (first["resource_type"], first["resource_name"]) == ("TOPIC", "a:b")
    assert first["brokers"] == [1, 2]
    assert (second["resource_type"], second["resource_name"]) == (None, "User:eve")
    assert found["brokers"][0] == {
        "id": 1,
        "since_ms": 5,
        "is_whole": True,
        "held_back": 1,
        "left_out": 0,
        "unknown_because": None,
    }


def test_of_a_broker_whose_agent_is_silent_nothing_is_known_and_of_the_others_all(placed):
    says(placed, {"host-1": [ATTEMPT]})
    found = denials(placed).json()
    assert len(found["data"]) == 1
    assert [row["unknown_because"] for row in found["brokers"]] == [
        None,
        SILENT,
    ]


def test_silence_of_all_is_unknown_and_never_empty(placed):
    says(placed, {})
    assert problem(denials(placed), 503)["code"] == "host-silent"
    placed.hosts.is_away = True
    assert problem(denials(placed), 503)["code"] == "zookeeper-away"


@pytest.mark.parametrize(
    "row",
    [
        7,
        {},
        {**ATTEMPT, "event": "fine"},
        {**ATTEMPT, "event": []},
        {**ATTEMPT, "count": "2"},
        {**ATTEMPT, "last_ms": -1},
        {**ATTEMPT, "first_ms": 2**60},
    ],
)
def test_what_a_host_makes_up_is_not_shown(placed, row):
    says(placed, {"host-1": [row, ATTEMPT], "host-2": Answered({"attempts": "many"}, 1)})
    found = denials(placed).json()
    assert [each["principal"] for each in found["data"]] == ["User:ann"]
    assert "cannot be understood" in found["brokers"][1]["unknown_because"]


def test_strange_names_are_bounded_text(placed):
    says(placed, {"host-1": [{**ATTEMPT, "principal": "\0" + "x" * 999, "resource": ["a"]}]})
    [row] = denials(placed).json()["data"]
    assert len(row["principal"]) == 260
    assert "\0" not in row["principal"]
    assert (row["resource_type"], row["resource_name"]) == (None, "")


def test_pages_hold_every_attempt_once(placed):
    rows = [{**ATTEMPT, "principal": f"User:{n}", "last_ms": 100 - n} for n in range(5)]
    says(placed, {"host-1": rows, "host-2": []})
    first = denials(placed, "?page_size=3").json()
    rest = denials(placed, f"?page_size=3&cursor={first['page']['next']}").json()
    names = [row["principal"] for page in (first, rest) for row in page["data"]]
    assert names == [row["principal"] for row in rows]
    assert rest["page"] == {"next": None, "has_more": False}


def test_no_more_than_its_bound_are_asked_and_the_others_unknown(placed):
    for number in range(3, BROKERS_ASKED_MAX + 3):
        add_broker(placed, number)
    says(placed, {"host-1": [ATTEMPT]})
    found = denials(placed).json()
    assert len(placed.hosts.asked) == BROKERS_ASKED_MAX
    assert [row["unknown_because"][:9] for row in found["brokers"][-2:]] == ["Not asked"] * 2


def test_only_a_role_on_the_whole_cluster_sees_them(placed):
    for over in (Over.TOPIC, Over.GROUP):
        client = member_of(placed.tenant, [Grant(role="operator", over=over)], f"of-{over.value}")
        problem(denials(placed, client=client), 403)
    assert placed.hosts.asked == []
    assert denials(placed, client=client_for(placed.tenant, "viewer")).status_code == 200


def test_another_tenant_s_and_a_registered_cluster_s(placed):
    stranger = client_for(tenant_make("other"), name="stranger")
    problem(denials(placed, client=stranger), 404)
    outside = cluster_make(placed.tenant, "outside", kind="registered")
    found = problem(denials(placed, cluster=outside), 503)
    assert (found["code"], found["retryable"]) == ("brokers-of-others", False)
    assert placed.hosts.asked == []
