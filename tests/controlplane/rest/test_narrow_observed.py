"""What readers of a part get from the observed tables, which hold everything of everybody.

Beside `test_narrow`, which walks every address over the same tables.
"""

import itertools
import json
from dataclasses import replace

import pytest

from console.events import _clusters_version
from controlplane.clusters.selectors import cluster_list, reader_of
from controlplane.common.grants import (
    ANY,
    EVERYTHING,
    LIMITED,
    NOTHING,
    OPERATOR,
    VIEWER,
    Grant,
    Match,
    Over,
    Pattern,
    Scope,
    scope_of,
)
from controlplane.common.problems import Forbidden
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.types import TP
from controlplane.observed.models import ObservedTopic
from controlplane.observed.readers import Reader
from controlplane.observed.sections import ACLS, GROUPS, TOPICS, USERS
from controlplane.observed.selectors import MODELS, cut, row_of, rows_of, rows_to_cut, section
from controlplane.observed.services import observed_row, observed_section
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import HIDDEN_TOPICS, ROWS, member_of, unseen
from tests.controlplane.support import client_for, observed

pytestmark = pytest.mark.django_db
PART = scope_of(LIMITED, ROWS)


def ask(client, world, path, **query):
    return client.get(f"/api/v1/clusters/{world.cluster.id}/{path}", query)


def pages(client, world, path, **query):
    """Every page of a list, by its cursors."""
    found, cursor = [], {}
    while cursor is not None:
        answer = ask(client, world, path, **query, **cursor).json()
        found.append(answer)
        following = answer["page"]["next"]
        assert answer["page"]["has_more"] == (following is not None)
        cursor = {"cursor": following} if following else None
    return found


def keys(page, name):
    return [row[name] for row in page["data"]]


@pytest.fixture
def own(world, teams):
    """Some more of the team's, in the tables with everything else."""
    for name in ("team-a-1", "team-a-2"):
        world.gateway.add_topic(name, partitions=1, records=10)
    observed(world)
    held = set(ObservedTopic.objects.values_list("key", flat=True))
    assert held >= {*HIDDEN_TOPICS, "team-a-1", "team-a-2", "team-a-x"}, "a test of nothing else"
    return teams


def test_pages_of_one_are_full_and_end_with_the_last_own_row(world, own, narrow):
    for client in narrow.values():
        found = pages(client, world, "topics", page_size=1)
        assert [keys(page, "name") for page in found] == [["team-a-1"], ["team-a-2"], ["team-a-x"]]
        assert unseen(json.dumps(found)) == []
        assert [keys(page, "group") for page in pages(client, world, "groups", page_size=1)] == [
            ["team-a-g"]
        ]


@pytest.mark.parametrize("search", ["secret", "team-ab", "Team", "x", "%", "_", "a", "orders"])
def test_a_search_finds_own_names_only(world, own, narrow, search):
    for client in narrow.values():
        for path in ("topics", "groups"):
            found = pages(client, world, path, q=search, page_size=1)
            assert unseen(json.dumps(found)) == []
            assert len(found) == max(1, sum(len(page["data"]) for page in found))


def test_a_cursor_of_who_sees_more_shows_no_more(world, own, narrow):
    given = ask(client_for(world.tenant), world, "topics", page_size=1).json()["page"]["next"]
    for client in narrow.values():
        answer = ask(client, world, "topics", cursor=given)
        assert answer.status_code == 200
        assert keys(answer.json(), "name") == ["team-a-1", "team-a-2", "team-a-x"]


def test_users_and_rules_are_refused_from_every_door(world, own, narrow):
    reader = reader_of(world.cluster, PART)
    for name in (USERS, ACLS):
        for question in (rows_to_cut, section, observed_section):
            with pytest.raises(Forbidden):
                question(reader, name)
        with pytest.raises(Forbidden):
            list(rows_of(reader, name))
    for client in narrow.values():
        for path in ("users", "acls", "access/drift"):
            problem(ask(client, world, path), 403)


def test_what_is_not_covered_is_not_looked_for_at_the_brokers(world, own):
    reader = reader_of(world.cluster, PART)
    world.gateway.offline = True
    for name, key in ((TOPICS, "secret-orders"), (TOPICS, "none"), (GROUPS, "secret-readers")):
        assert row_of(reader, name, key) is None
        assert observed_row(reader, name, key) is None


@pytest.fixture
def trouble(monkeypatch):
    """Lets one partition of a topic have no leader, and one lack a replica."""

    def of(topic):
        listed = FakeGateway.list_topics

        def troubled(self):
            return [_troubled(found) if found.name == topic else found for found in listed(self)]

        monkeypatch.setattr(FakeGateway, "list_topics", troubled)

    return of


def _troubled(topic):
    first, second, *others = topic.partitions
    now = (replace(first, leader=None, isr=()), replace(second, isr=second.isr[:1]))
    return replace(topic, partitions=(*now, *others))


def health_of(client, world):
    found = client.get(f"/api/v1/clusters/{world.cluster.id}").json()["health"]
    (row,) = [row for row in client.get("/api/v1/clusters").json()["data"] if row["name"] == "main"]
    assert row["health"] == found
    return found["status"], [reason["text"] for reason in found["reasons"]]


def test_trouble_of_others_partitions_is_no_health_of_a_part(world, own, narrow, trouble):
    before = _clusters_version(world.tenant, PART)
    trouble("secret-orders")
    observed(world)
    status, reasons = health_of(client_for(world.tenant), world)
    assert (status, len(reasons)) == ("degraded", 2)
    for client in narrow.values():
        assert health_of(client, world) == ("healthy", [])
        text = json.dumps(client.get("/console/api/pages/overview").json()["parts"])
        assert "leader" not in text
    assert _clusters_version(world.tenant, PART) == before, "the live feed of a part is silent"
    trouble("team-a-x")
    observed(world)
    for client in narrow.values():
        assert health_of(client, world) == (
            "degraded",
            ["1 partition has no leader.", "1 partition lacks replicas in sync."],
        )
    assert _clusters_version(world.tenant, PART) != before
    (whole,) = [row for row in cluster_list(world.tenant, EVERYTHING) if row["name"] == "main"]
    assert "2 partitions have no leader." in json.dumps(whole["health"])


def test_reasons_count_nothing_of_others(world, own, narrow, trouble):
    trouble("secret-orders")
    world.gateway.fail_next("topic_configs", GatewayError("NOT_NOW", "secret-orders is not read"))
    observed(world)
    whole = ask(client_for(world.tenant), world, "topics").json()["observed"]["stale_reason"]
    assert "1 partition has no leader" in whole
    for client in narrow.values():
        found = ask(client, world, "topics").json()
        assert found["observed"]["stale_reason"] == "not all of it could be read"
        assert ask(client, world, "topics/team-a-x").json()["stale_reason"] == (
            "not all of it could be read"
        )
        page = client.get(f"/console/api/pages/topics/{world.cluster.id}").json()["parts"]["topics"]
        assert (page["status"], page["reason"]) == ("stale", "Not all of it could be read.")


def test_a_refusal_of_a_whole_section_is_not_repeated_to_a_part(world, own, narrow):
    world.gateway.fail_next("list_topics", GatewayError("BROKEN", "secret-orders is broken"))
    observed(world)
    whole = ask(client_for(world.tenant), world, "topics").json()["observed"]["stale_reason"]
    assert "secret-orders" in whole
    for client in narrow.values():
        answer = ask(client, world, "topics").json()
        assert answer["observed"]["stale_reason"] == "the cluster refused"
        assert keys(answer, "name") == ["team-a-1", "team-a-2", "team-a-x"], "as last read"


def test_groups_that_may_be_missing_are_said_to_everybody(world, own, narrow):
    coordinator = world.gateway.groups["team-a-g"].coordinator
    world.gateway.silent = {coordinator}
    observed(world)
    said = "groups whose coordinator could not be asked may be missing"
    found = ask(client_for(world.tenant), world, "groups").json()
    assert found["observed"]["stale_reason"].startswith(
        f"{said} (broker {coordinator} did not answer)"
    )
    for client in narrow.values():
        found = ask(client, world, "groups").json()
        assert found["observed"]["stale_reason"] == said
        assert [(row["group"], row["stale_reason"]) for row in found["data"]] == [
            ("team-a-g", "its coordinator could not be asked")
        ]


def test_a_groups_lag_in_the_list_is_of_own_topics(world, own, narrow):
    world.gateway.set_members("team-a-g", 1)
    world.gateway.assign("team-a-g", [TP("team-a-x", 0), TP("secret-orders", 1)])
    observed(world)
    for client in narrow.values():
        (row,) = ask(client, world, "groups").json()["data"]
        assert (row["topics"], row["lag"]) == (["team-a-x"], 999)
        (member,) = ask(client, world, "groups/team-a-g").json()["members"]
        assert member["partitions"] == [{"topic": "team-a-x", "partition": 0}]
    (row,) = [
        row
        for row in ask(client_for(world.tenant), world, "groups").json()["data"]
        if row["group"] == "team-a-g"
    ]
    assert (row["topics"], row["lag"]) == (["secret-orders", "team-a-x"], 999 + 998)


def test_a_lag_is_unknown_while_the_end_of_an_own_partition_is(world, own):
    row = {"lag": None, "topics": ["team-a-x"]}
    offsets = [["team-a-x", 0, 1, None, None, ""], ["secret-orders", 0, 1, 0, 9, ""]]
    kept = MODELS[GROUPS](row=row, detail={"members": [], "offsets": offsets})
    assert cut(reader_of(world.cluster, PART), kept).row["lag"] is None


def test_own_loads_count_no_broker_for_others(world, own, narrow):
    client = member_of(
        world.tenant,
        [Grant(role=VIEWER, over=Over.TOPIC, names=Pattern(Match.LITERAL, "team-a-1"))],
        "one-topic",
    )
    parts = client.get(f"/console/api/pages/cluster/{world.cluster.id}").json()["parts"]
    assert parts["summary"]["data"] == {
        "topics": 1,
        "partitions": 1,
        "under_replicated": 0,
        "offline": 0,
        "size_bytes": None,
    }
    rows = parts["loads"]["data"]
    assert (sum(row["leaders"] for row in rows), sum(row["replicas"] for row in rows)) == (1, 3)
    assert {row["size_bytes"] for row in rows} == {None}


# -- the database cuts as the grants do -------------------------------------------------------
NAMES = [
    *HIDDEN_TOPICS,
    *("team-a-", "team-a-x", "TEAM-A-X", "team-a", "team%a-x", "team-a-%", "team-a_", "*", "%-x"),
    *("é-x", "e\u0301-x", "É-x", "名-x", "\U0001f600-x", "'-x", '"-x', "\\-x", "b-team-a-x"),
]
PATTERNS = [
    Pattern(),
    Pattern(Match.LITERAL, "team-a-x"),
    Pattern(Match.LITERAL, "*"),
    Pattern(Match.PREFIX, "team-a-"),
    Pattern(Match.PREFIX, "team_"),
    Pattern(Match.PREFIX, "%-"),
    Pattern(Match.PREFIX, "é-"),
    Pattern(Match.PREFIX, "\U0001f600-"),
    Pattern(Match.PREFIX, "\\-"),
    Pattern(Match.PREFIX, "'-"),
]


def over_topics(*names, clusters=ANY, role=VIEWER):
    return tuple(Grant(role=role, clusters=clusters, over=Over.TOPIC, names=name) for name in names)


SCOPES = [
    NOTHING,
    Scope(()),
    EVERYTHING,
    PART,
    Scope((over_topics(*PATTERNS[1:3]), over_topics(*PATTERNS[3:]))),
    Scope((over_topics(Pattern()), over_topics(PATTERNS[3]))),
    Scope((over_topics(Pattern()), ())),
    Scope((over_topics(PATTERNS[3], clusters=Pattern(Match.LITERAL, "other")),)),
    Scope((over_topics(PATTERNS[3], role="nobody"),)),
    Scope((over_topics(Pattern(Match.PREFIX, "")),)),
    Scope((over_topics(Pattern(Match.LITERAL, "")),)),
    Scope(((Grant(role=OPERATOR, over=Over.GROUP, names=PATTERNS[3]),),)),
    *(Scope((over_topics(*pair),)) for pair in itertools.combinations(PATTERNS, 2)),
    *(
        Scope((over_topics(one), over_topics(two)))
        for one, two in itertools.permutations(PATTERNS, 2)
    ),
]


def test_the_database_gives_the_names_that_the_grants_cover_and_no_others(world):
    ObservedTopic.objects.bulk_create(
        ObservedTopic(cluster=world.cluster, key=name, row={}, mark="") for name in NAMES
    )
    for scope in SCOPES:
        reader = Reader(scope, world.cluster.id, world.cluster.name)
        found = set(rows_to_cut(reader, TOPICS).values_list("key", flat=True))
        assert found == {name for name in NAMES if reader.covers(TOPICS, name)}, scope
