"""The real gateway when the cluster is away, slow, or does not know us."""

import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import KafkaException, Producer
from kafka.errors import KafkaConnectionError

from controlplane.gateway import kafka_link
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import TIMED_OUT, UNREACHABLE, GatewayError
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.kafka_link import CALLS_AT_ONCE, READS_MAX, KafkaLink, refusal
from controlplane.gateway.passage import is_answer
from controlplane.gateway.types import AclBinding, NewTopic
from tests.controlplane.gateway.conftest import login, spec_of
from tests.local_cluster import local_cluster
from tests.processes import hold_still


@pytest.fixture
def gateway_to():
    opened = []

    def make(spec):
        opened.append(KafkaGateway(spec))
        return opened[-1]

    yield make
    for gateway in opened:
        gateway.close()


def test_nobody_listens(gateway_to):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{held.getsockname()[1]}"
        gateway = gateway_to(ConnectionSpec(bootstrap_servers=(address,), timeout_s=0.5))
        started_s = time.monotonic()
        with pytest.raises(GatewayError) as caught:
            gateway.describe_cluster()
    assert caught.value.retriable
    assert time.monotonic() - started_s < 5
    assert caught.value.as_problem().status == 503


def test_a_listener_that_never_answers_costs_one_deadline(gateway_to):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        gateway = gateway_to(ConnectionSpec(bootstrap_servers=(address,), timeout_s=0.5))
        started_s = time.monotonic()
        with pytest.raises(GatewayError) as caught:
            gateway.delete_topic("orders")
    assert caught.value.code in {TIMED_OUT, UNREACHABLE}
    assert not caught.value.unknown_outcome, "nobody was let in, so nothing was sent"
    assert time.monotonic() - started_s < 5


@pytest.mark.parametrize("address", ["nonsense", "host:port", ":", "", "a:99999999", "[::1"])
def test_an_address_that_is_none_is_unreachable(gateway_to, address):
    gateway = gateway_to(ConnectionSpec(bootstrap_servers=(address,), timeout_s=0.5))
    with pytest.raises(GatewayError) as caught:
        gateway.describe_cluster()
    assert caught.value.as_problem().status == 503


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("NotLeaderForPartitionError", "NOT_LEADER_OR_FOLLOWER"),
        ("InvalidTopicError", "INVALID_TOPIC_EXCEPTION"),
        ("UnknownError", "UNKNOWN_SERVER_ERROR"),
        ("TopicAlreadyExistsError", "TOPIC_ALREADY_EXISTS"),
    ],
)
def test_errors_have_kafkas_own_names(error, code):
    import kafka.errors

    assert refusal(getattr(kafka.errors, error), "").code == code


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_a_wrong_password_is_reported_at_once(secured, gateway_to):
    gateway = gateway_to(spec_of(secured, password="wrong", timeout_s=5.0))
    started_s = time.monotonic()
    with pytest.raises(GatewayError) as caught:
        gateway.describe_cluster()
    assert time.monotonic() - started_s < 10
    problem = caught.value.as_problem()
    assert (problem.status, problem.code, problem.retryable) == (
        409,
        "cluster-authentication-failed",
        False,
    )
    assert "authentication failed" in problem.detail


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_a_user_without_acls_is_refused_and_with_them_served(kafka, secured):
    kafka.create_topic(NewTopic(name="grants", partitions=1, replication_factor=3))
    kafka.upsert_user("granted", "SCRAM-SHA-512", "its-password")
    producer = Producer(
        {
            **login(secured, "granted", "its-password", "SCRAM-SHA-512"),
            "message.timeout.ms": 8_000,
        }
    )
    assert refused_to_produce(producer, "grants")
    rule = AclBinding(
        principal="User:granted",
        host="*",
        operation="WRITE",
        permission="ALLOW",
        resource_type="TOPIC",
        resource_name="gra",
        pattern_type="PREFIXED",
    )
    kafka.create_acls([rule])
    deadline_s = time.monotonic() + 10
    while refused_to_produce(producer, "grants"):
        assert time.monotonic() < deadline_s, "the ACL is not seen"
    kafka.delete_acls([rule])
    kafka.delete_user("granted", "SCRAM-SHA-512")


def refused_to_produce(producer, topic):
    errors = []
    try:
        producer.produce(topic, b"x", on_delivery=lambda error, _: errors.append(error))
        producer.flush(10)
    except KafkaException as error:
        return error.args[0]
    return errors[0]


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_a_paused_broker_is_a_timeout_and_the_next_call_heals(tmp_path, gateway_to):
    with local_cluster(tmp_path, brokers=1) as cluster:
        gateway = gateway_to(ConnectionSpec(bootstrap_servers=(cluster.bootstrap,), timeout_s=1.0))
        assert len(gateway.describe_cluster().brokers) == 1
        pid = cluster.broker_pid(0)
        hold_still(pid)
        try:
            with pytest.raises(GatewayError) as caught:
                gateway.create_topic(NewTopic(name="late", partitions=1, replication_factor=1))
            assert caught.value.retriable
            assert caught.value.unknown_outcome
        finally:
            os.kill(pid, signal.SIGCONT)
        deadline_s = time.monotonic() + 20
        while True:
            try:
                gateway.describe_cluster()
            except GatewayError:
                assert time.monotonic() < deadline_s
            else:
                break


class _Links:
    """What a link makes clients of: each one a number, and what it was asked."""

    def __init__(self, monkeypatch):
        self.made = 0
        monkeypatch.setattr(kafka_link, "way_in", lambda _: "a:1")
        monkeypatch.setattr(kafka_link, "KafkaAdminClient", self.client)

    def client(self, **_):
        self.made += 1
        return self

    def close(self):
        pass


def failing_once(asked):
    def work(_client):
        asked.append(1)
        if len(asked) == 1:
            raise KafkaConnectionError("the broker was killed")
        return "answer"

    return work


def test_a_read_whose_broker_went_away_is_asked_once_more(monkeypatch):
    clients, asked = _Links(monkeypatch), []
    link = KafkaLink(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=5.0))
    assert link.call(failing_once(asked), what="read") == "answer"
    assert (clients.made, len(asked)) == (2, 2)
    link.close()


def test_nobody_waits_for_a_connection_that_hangs(monkeypatch):
    """Neither who gives it up nor who asks next; a late one is closed, for there is another."""
    clients, hangs = _Links(monkeypatch), threading.Event()
    late, closed = [], threading.Event()

    class Late:
        def close(self):
            closed.set()

    def connect(**settings):
        if not late:
            late.append(Late())
            hangs.wait(30)
            return late[0]
        return clients.client(**settings)

    monkeypatch.setattr(kafka_link, "KafkaAdminClient", connect)
    link = KafkaLink(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=0.2))
    with pytest.raises(GatewayError) as caught:
        link.call(lambda _: "answer", what="read")
    assert caught.value.retriable
    assert link.call(lambda client: client is clients, what="read") is True
    hangs.set()
    assert closed.wait(10)
    assert link.call(lambda client: client is clients, what="read") is True
    link.close()


def test_a_connection_that_comes_after_the_end_is_closed(monkeypatch):
    _Links(monkeypatch)
    hangs, closed = threading.Event(), threading.Event()

    class Late:
        def close(self):
            closed.set()

    def connect(**_):
        hangs.wait(30)
        return Late()

    monkeypatch.setattr(kafka_link, "KafkaAdminClient", connect)
    link = KafkaLink(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=0.2))
    with pytest.raises(GatewayError):
        link.call(lambda _: "answer", what="read")
    link.close()
    hangs.set()
    assert closed.wait(10)


def test_a_write_is_not_asked_again_and_its_outcome_is_unknown(monkeypatch):
    _Links(monkeypatch)
    asked = []
    link = KafkaLink(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=5.0))
    with pytest.raises(GatewayError) as caught:
        link.call(failing_once(asked), what="write", write=True)
    assert (caught.value.unknown_outcome, len(asked)) == (True, 1)
    link.close()


def test_a_read_is_asked_a_few_times_and_not_for_ever(monkeypatch):
    _Links(monkeypatch)
    asked = []

    def work(_client):
        asked.append(1)
        raise KafkaConnectionError("away")

    link = KafkaLink(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=5.0))
    with pytest.raises(GatewayError):
        link.call(work, what="read")
    assert len(asked) == READS_MAX
    link.close()


def test_a_read_of_any_broker_is_asked_twice_by_each_client(monkeypatch):
    """The one that could not reach a broker passes by it; a new one may choose it once more."""
    links = _Links(monkeypatch)
    asked = []

    def work(_client):
        asked.append(links.made)
        raise KafkaConnectionError("away")

    link = KafkaLink(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=5.0))
    for _ in range(2):
        with pytest.raises(GatewayError):
            link.call(work, what="read", is_hedged=True)
    assert asked == [1, 1, 2, 2, 3, 3, 4, 4]
    assert len(asked) == 2 * READS_MAX
    link.close()


class _Coordinators(_Links):
    """Clients that keep asking whom they asked first: all but the newest ask the wrong one."""

    moves = 1

    def client(self, **_):
        super().client()
        return _OfGroups(is_right=self.made > self.moves)


class _OfGroups:
    def __init__(self, *, is_right):
        self._is_right = is_right
        self._manager = self
        self.cluster = self

    def get_coordinator(self, _group, _kind):
        return 3

    def describe_groups(self, names):
        error = None if self._is_right else "[Error 16] NOT_COORDINATOR"
        row = {"error": error, "group_state": "Empty", "protocol_type": "", "members": []}
        return {name: {**row, "group_id": name} for name in names}

    def delete_groups(self, names):
        return dict.fromkeys(names, "OK" if self._is_right else "NotCoordinatorError")

    def close(self):
        pass


def test_a_group_that_has_moved_is_described_where_it_is(monkeypatch, gateway_to):
    """The library asks the former coordinator for ever: its refusal makes a new client."""
    clients = _Coordinators(monkeypatch)
    gateway = gateway_to(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=5.0))
    found = gateway.describe_groups(["readers"])["readers"]
    assert (found.state, found.coordinator, clients.made) == ("Empty", 3, 2)


def test_a_group_that_has_moved_is_changed_at_the_next_try(monkeypatch, gateway_to):
    clients = _Coordinators(monkeypatch)
    gateway = gateway_to(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=5.0))
    with pytest.raises(GatewayError) as caught:
        gateway.delete_group("readers")
    assert (caught.value.code, caught.value.retriable) == ("NOT_COORDINATOR", True)
    assert not caught.value.unknown_outcome
    gateway.delete_group("readers")
    assert clients.made == 2


def hanging_once(asked, hangs):
    def work(_client):
        asked.append(1)
        if len(asked) == 1:
            assert hangs.wait(30)
            return "late"
        return "answer"

    return work


def test_a_read_that_hangs_is_asked_beside_it_where_any_broker_may_answer(monkeypatch):
    _Links(monkeypatch)
    monkeypatch.setattr(kafka_link, "HEDGE_AFTER_S", 0.05)
    hangs, asked = threading.Event(), []
    link = KafkaLink(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=20.0))
    assert link.call(hanging_once(asked, hangs), what="read", is_hedged=True) == "answer"
    assert len(asked) == 2
    hangs.set()
    link.close()


def test_an_error_of_the_second_that_is_asked_waits_for_the_first(monkeypatch):
    _Links(monkeypatch)
    monkeypatch.setattr(kafka_link, "HEDGE_AFTER_S", 0.05)
    failed, asked = threading.Event(), []

    def work(_client):
        asked.append(1)
        if len(asked) == 1:
            assert failed.wait(30)
            return "answer"
        failed.set()
        raise KafkaConnectionError("away")

    link = KafkaLink(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=20.0))
    assert link.call(work, what="read", is_hedged=True) == "answer"
    assert len(asked) == 2
    link.close()


@pytest.mark.parametrize("how", [{}, {"is_hedged": False, "write": True}])
def test_what_only_one_may_answer_or_may_be_done_is_asked_once(monkeypatch, how):
    _Links(monkeypatch)
    monkeypatch.setattr(kafka_link, "HEDGE_AFTER_S", 0.05)
    hangs, asked = threading.Event(), []
    link = KafkaLink(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=0.5))
    with pytest.raises(GatewayError) as caught:
        link.call(hanging_once(asked, hangs), what="it", **how)
    assert (caught.value.code, len(asked)) == (TIMED_OUT, 1)
    hangs.set()
    link.close()


def test_what_nobody_waits_for_any_more_is_not_asked(monkeypatch):
    """A queue of such would keep the others waiting."""
    _Links(monkeypatch)
    hangs, asked = threading.Event(), []
    link = KafkaLink(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=0.2))

    def hanging(_client):
        asked.append(1)
        assert hangs.wait(30)

    for _ in range(CALLS_AT_ONCE + 2):
        with pytest.raises(GatewayError):
            link.call(hanging, what="read")
    assert len(asked) == CALLS_AT_ONCE
    assert link.call(lambda _: "answer", what="read", is_hedged=True) == "answer"
    hangs.set()
    assert link.call(lambda _: "answer", what="read", timeout_s=10) == "answer"
    assert len(asked) == CALLS_AT_ONCE
    link.close()


def test_a_client_that_is_dropped_is_closed_when_its_last_user_has_an_answer(monkeypatch):
    clients = _Links(monkeypatch)
    closed, goes_on, is_asked = threading.Event(), threading.Event(), threading.Event()
    monkeypatch.setattr(clients, "close", closed.set)
    link = KafkaLink(ConnectionSpec(bootstrap_servers=("a:1",), timeout_s=20.0))

    def slow(_client):
        is_asked.set()
        assert goes_on.wait(30)
        return "closed" if closed.is_set() else "answer"

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(link.call, slow, what="read")
        assert is_asked.wait(30)
        with pytest.raises(GatewayError):
            link.call(failing_once([]), what="write", write=True)
        assert not closed.wait(0.2)
        goes_on.set()
        assert answer.result() == "answer"
    assert closed.wait(10)
    link.close()


@pytest.mark.cluster
@pytest.mark.timeout(120)
@pytest.mark.parametrize("write", [False, True])
def test_the_librarys_own_deadline_is_no_answer_of_a_broker(tmp_path, write):
    """Else a hung broker refuses in Kafka's words, and whoever counts the silent leaves it out."""
    with local_cluster(tmp_path, brokers=1) as cluster:
        link = KafkaLink(ConnectionSpec(bootstrap_servers=(cluster.bootstrap,), timeout_s=1.0))
        link.call(lambda admin: admin.describe_cluster(), what="it")
        pid = cluster.broker_pid(0)
        hold_still(pid)
        try:
            with pytest.raises(GatewayError) as caught:
                link.call(lambda admin: admin.list_groups(), what="it", timeout_s=20.0, write=write)
        finally:
            os.kill(pid, signal.SIGCONT)
            link.close()
        assert (caught.value.code, caught.value.unknown_outcome) == (TIMED_OUT, write)
        assert not is_answer(caught.value)


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_reads_go_on_while_a_broker_hangs(tmp_path, gateway_to, monkeypatch):
    """Its connections stay up, so that only a deadline or another broker helps."""
    monkeypatch.setattr(kafka_link, "HEDGE_AFTER_S", 0.3)
    with local_cluster(tmp_path, brokers=3) as cluster:
        addresses = tuple(cluster.bootstrap.split(","))
        gateway = gateway_to(ConnectionSpec(bootstrap_servers=addresses, timeout_s=10.0))
        gateway.create_topic(NewTopic(name="kept", partitions=1, replication_factor=3))
        assert len(gateway.log_dir_space([0, 1, 2])) == 3, "it is connected to all of them"
        pid = cluster.broker_pid(2)
        hold_still(pid)
        try:
            for _ in range(20):
                assert [topic.name for topic in gateway.list_topics()] == ["kept"]
        finally:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_reads_go_on_while_a_broker_is_killed(tmp_path, gateway_to):
    with local_cluster(tmp_path, brokers=3) as cluster:
        addresses = tuple(cluster.bootstrap.split(","))
        gateway = gateway_to(ConnectionSpec(bootstrap_servers=addresses, timeout_s=8.0))
        gateway.create_topic(NewTopic(name="kept", partitions=1, replication_factor=3))
        cluster.kill_broker(2)
        for _ in range(10):
            assert [topic.name for topic in gateway.list_topics()] == ["kept"]
