"""`isolation`: which records of transactions a page holds, and what it says of those it has not."""

import pytest

from controlplane.audit.models import AuditEvent
from tests.controlplane.messages.conftest import fill
from tests.controlplane.rest.surface import problem
from tests.controlplane.support import client_for

pytestmark = pytest.mark.django_db
COMMITTED = {"isolation": "read_committed"}


@pytest.fixture
def page(world):
    """`orders`: 0 and 3 committed, 1 and 2 aborted, 4 committed behind 3; 4 and 5 are behind an
    open transaction that begins at 4."""
    fill(world.gateway, "orders", [(0, None, b"%d" % n) for n in range(6)])
    part = world.gateway.topics["orders"].partitions[0]
    part.aborted, part.last_stable = {1, 2}, 4
    path = f"/api/v1/clusters/{world.cluster.id}/topics/orders/messages"
    client = client_for(world.tenant, "operator")

    def read(**query):
        return client.get(path, query)

    return read


def offsets(answer):
    return [row["offset"] for row in answer.json()["data"]]


def test_by_default_all_that_is_there_is_read_as_consumers_do(page):
    answer = page()
    assert offsets(answer) == [5, 4, 3, 2, 1, 0]
    assert answer.json()["reading"]["held_back"] == []


@pytest.mark.parametrize("start", ["end", "beginning"])
def test_committed_alone_leaves_out_aborted_and_open_ones(page, start):
    answer = page(**COMMITTED, **{"from": start})
    assert sorted(offsets(answer)) == [0, 3]
    reading = answer.json()["reading"]
    assert reading["ended_by"] == "end"
    assert reading["held_back"] == [
        {"partition": 0, "last_stable_offset": 4, "end_offset": 6},
    ]


def test_nothing_is_held_back_once_the_transaction_is_over(page, world):
    world.gateway.topics["orders"].partitions[0].last_stable = None
    answer = page(**COMMITTED)
    assert offsets(answer) == [5, 4, 3, 0]
    assert answer.json()["reading"]["held_back"] == []


def test_a_record_that_is_not_committed_is_not_found_by_its_offset_or_time(page):
    assert offsets(page(**COMMITTED, **{"from": "offset", "offset": 5, "order": "oldest"})) == []
    late = {"from": "time", "time": "2023-11-14T22:13:24Z"}
    assert offsets(page(**COMMITTED, **late)) == []
    assert offsets(page(**late)) == [4, 5]


def test_other_words_are_refused_and_the_record_of_the_reading_says_which(page):
    faults = problem(page(isolation="serializable"), 422)["errors"]
    assert [fault["pointer"] for fault in faults] == ["/isolation"]
    page(**COMMITTED)
    found = AuditEvent.objects.get(action="messages.read").data
    assert found["isolation"] == "read_committed"
