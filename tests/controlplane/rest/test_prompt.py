"""Brokers and hosts hang: every read answers within its patience, with what is known and its age.

Nothing waits here. What a read would wait for moves a clock of the test's own on by as much, so it
is counted, and not measured. A new door is in these walks by itself: it has to answer in time, and
with 200, unless it is put beside those of which nobody keeps anything.
"""

import time

import pytest

from controlplane.clusters import asking
from controlplane.clusters.hosts import HostsUnavailableError
from controlplane.clusters.questions import SILENT, silent
from controlplane.clusters.zookeeper_tree import ANSWER_TIMEOUT_S
from controlplane.common.times import iso_of_ms
from controlplane.gateway.errors import timed_out
from controlplane.gateway.fake_records import FakeRecordReader
from controlplane.gateway.patience import bounded
from controlplane.gateway.record_port import Fetched
from controlplane.gateway.types import TP
from tests.controlplane.rest.surface import operations, problem, send
from tests.controlplane.support import forget_observed, observed

pytestmark = pytest.mark.django_db
READ_PATIENCE_S = 1.8
WITHIN_S = 2.0
"""What is over the patience is what answers that are there already may take (`LEAST_S`)."""
BROKERS_HANG_S = 10.0
HEARD_AT_MS = 1_767_225_600_000
READS = [row for row in operations() if not row.is_write]
PAGES = [row for row in READS if row.path.startswith("/console/api/pages/")]
QUERIES = {
    "get /clusters/{cluster_id}/analytics/consumption": "?on=orders/0",
    "get /clusters/{cluster_id}/analytics/offsets": "?topic=orders",
    "get /clusters/{cluster_id}/analytics/sparklines": "?of=topic&name=orders",
}
NOBODY_KEEPS = {
    f"get /clusters/{{cluster_id}}/{rest}"
    for rest in (
        "access/denials",
        "brokers/{broker_id}/log",
        "offset-samples/{topic}",
        "topics/{name}/messages",
        "topics/{name}/messages/export",
        "topics/{name}/partitions/{partition}/segments",
        "topics/{name}/producers",
        "topics/{name}/replicas",
    )
}
ASK_THE_HOSTS = {
    "get /clusters/{cluster_id}/access/denials",
    "get /clusters/{cluster_id}/brokers/{broker_id}/log",
    "get /clusters/{cluster_id}/topics/{name}/partitions/{partition}/segments",
}
OF_ZOOKEEPER = {
    # Releases on hosts, and what brokers run, are where agents write them, and nowhere else.
    "get /clusters/{cluster_id}/versions",
    "get /operator/hosts",
    "get /operator/hosts/{host_id}",
    "get /operator/hosts/{host_id}/events",
    "get /operator/hosts/{host_id}/plans/{act}",
    "get /operator/placement",
}
KEPT = {
    f"get /clusters/{{cluster_id}}/{rest}"
    for rest in ("quotas", "reassignments", "users/{kafka_user}/client-config")
}
RECORDS = {
    f"get /clusters/{{cluster_id}}/{rest}"
    for rest in (
        "offset-samples/{topic}",
        "topics/{name}/messages",
        "topics/{name}/messages/export",
    )
}
PARTS_NOBODY_KEEPS = {
    "broker": {"settings"},
    "directories": {"directories"},
    "producers": {"producers"},
    "replicas": {"replicas"},
}
PARTS_KEPT = {"access": "quotas", "cluster": "reassignments", "reassign": "reassignments"}


BYTES = ("bytes_moved", "bytes_to_move")


class Clock:
    """Moves on by what is waited for, and by nothing else."""

    def __init__(self):
        self.now_s, self.time = 1_000.0, time.time

    def monotonic(self):
        return self.now_s

    def wait(self, seconds):
        self.now_s += bounded(seconds)

    def sleep(self, seconds):
        self.now_s += seconds


@pytest.fixture
def clock(monkeypatch, settings):
    made = Clock()
    settings.READ_PATIENCE_S = READ_PATIENCE_S
    for module in ("gateway.patience", "observed.services", "messages.reading"):
        monkeypatch.setattr(f"controlplane.{module}.time", made)
    return made


@pytest.fixture
def known(world):
    """What the service keeps of things that brokers are asked each time."""
    world.gateway.quotas[(("user", "app"),)] = {"producer_byte_rate": 1_048_576.0}
    world.gateway.reassign({TP("orders", 0): (2, 3)})
    observed(world)


@pytest.fixture
def brokers_hang(world, clock, monkeypatch):
    def hang(method):
        clock.wait(BROKERS_HANG_S)
        raise timed_out(f"{method}: no answer", write=False)

    monkeypatch.setattr(world.gateway, "called", hang)


@pytest.fixture
def agents_hang(world, clock):
    def unanswered(_question):
        return silent(SILENT, HEARD_AT_MS)

    def ask(questions):
        clock.wait(asking.WAIT_S)
        return [unanswered(each) for each in questions]

    world.hosts.ask = ask


@pytest.fixture
def records_hang(clock, monkeypatch):
    def nothing(_reader, spans, *, wait_s):
        clock.wait(wait_s)
        return Fetched({}, {number: span.start for number, span in spans.items()})

    monkeypatch.setattr(FakeRecordReader, "fetch", nothing)
    return clock


def asked(clock, client, row, ids):
    """The answer, and how long it was waited for."""
    began_s = clock.now_s
    answer = send(client, row, ids, query=QUERIES.get(str(row), ""))
    return answer, clock.now_s - began_s


@pytest.mark.parametrize("row", READS, ids=str)
@pytest.mark.usefixtures("known", "brokers_hang", "agents_hang")
def test_every_read_answers_in_time_with_what_is_known(clock, owner, ids, row):
    answer, waited_s = asked(clock, owner, row, ids)
    assert waited_s <= WITHIN_S
    if str(row) not in NOBODY_KEEPS:
        assert answer.status_code == 200
        return
    found = problem(answer, 503)
    assert found["retryable"] is True
    if str(row) in ASK_THE_HOSTS:
        assert found["last_heard_at"] == iso_of_ms(HEARD_AT_MS)
        assert f"It was last heard of at {iso_of_ms(HEARD_AT_MS)}." in found["detail"]


@pytest.mark.parametrize("row", READS, ids=str)
@pytest.mark.usefixtures("brokers_hang", "agents_hang")
def test_every_read_answers_in_time_of_a_cluster_that_was_never_observed(
    world, clock, owner, ids, row
):
    forget_observed(world)
    answer, waited_s = asked(clock, owner, row, ids)
    assert waited_s <= WITHIN_S
    assert answer.status_code in {200, 503}


@pytest.mark.parametrize("row", READS, ids=str)
@pytest.mark.usefixtures("known")
def test_every_read_answers_in_time_while_zookeeper_hangs(world, clock, owner, ids, row):
    def hang():
        clock.wait(ANSWER_TIMEOUT_S)
        raise HostsUnavailableError("no answer")

    world.hosts._answer = hang  # noqa: SLF001 - all that it is asked passes here
    answer, waited_s = asked(clock, owner, row, ids)
    assert waited_s <= WITHIN_S
    assert answer.status_code == (503 if str(row) in ASK_THE_HOSTS | OF_ZOOKEEPER else 200)


@pytest.mark.parametrize("row", [row for row in READS if str(row) in RECORDS], ids=str)
def test_records_that_do_not_come_are_waited_for_no_longer(world, records_hang, owner, ids, row):
    clock = records_hang
    for part in world.gateway.topics["orders"].partitions:
        part.log_end = 3
    answer, waited_s = asked(clock, owner, row, ids)
    assert 0 < waited_s <= WITHIN_S
    if "offset-samples" in row.path:
        problem(answer, 503)
    elif row.path.endswith("/export"):
        assert answer["X-Penstock-Export-Complete"] == "false"
    else:
        assert answer.json()["reading"]["silent"] == [0, 1]


@pytest.mark.parametrize("row", [row for row in READS if str(row) in KEPT], ids=str)
@pytest.mark.usefixtures("known")
def test_what_brokers_are_asked_each_time_is_shown_as_it_was_last_read(world, owner, ids, row):
    before = send(owner, row, ids).json()
    world.gateway.offline = True
    observed(world)  # nobody hurries this pass, and it finds nothing out
    found = send(owner, row, ids).json()
    kept, then = (each.get("data", each.get("mechanisms")) for each in (found, before))
    if row.path.endswith("/reassignments"):
        assert {each.pop(name) for each in kept for name in BYTES} == {None}
        assert None not in {each.pop(name) for each in then for name in BYTES}
    assert kept == then
    assert kept
    assert before["observed"]["stale_reason"] is None
    assert found["observed"]["stale_reason"]
    assert found["observed"]["as_of"] <= before["observed"]["as_of"]


@pytest.mark.parametrize("row", PAGES, ids=str)
@pytest.mark.usefixtures("known", "brokers_hang")
def test_parts_of_pages_are_stale_and_no_errors(clock, owner, ids, row):
    name = row.path.split("/")[4]
    answer, _ = asked(clock, owner, row, ids)
    parts = answer.json()["parts"]
    unavailable = {part for part, found in parts.items() if found["status"] == "unavailable"}
    assert unavailable == PARTS_NOBODY_KEEPS.get(name, set())
    if name in PARTS_KEPT:
        kept = parts[PARTS_KEPT[name]]
        assert (kept["status"], bool(kept["as_of"]), bool(kept["reason"])) == ("stale", True, True)
        assert kept["data"]


def test_the_tables_name_doors_that_there_are():
    assert {str(row) for row in READS} >= (
        NOBODY_KEEPS | ASK_THE_HOSTS | OF_ZOOKEEPER | KEPT | RECORDS | set(QUERIES)
    )
