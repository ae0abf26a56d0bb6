"""Every question to a cluster passes its breaker and its bounds; all processes know what one found."""

import inspect
import socket
import threading
import time

import pytest

from controlplane.common.redis_link import RedisLink
from controlplane.common.slots import Slots
from controlplane.gateway.breaker import CLOSED, OPEN, Policy
from controlplane.gateway.breakers import Breakers
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import (
    BUSY,
    NOT_ANSWERING,
    UNREACHABLE,
    GatewayError,
    timed_out,
    unreachable,
)
from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.passage import GuardedGateway, Passage, first_look
from controlplane.gateway.port import VIEWS, BrokerView, ClusterGateway
from tests.waiting import wait_until

CLUSTER, TENANT = "kc_one", "1"
NO_REDIS = "redis://127.0.0.1:1/0"
T0 = 1_000_000.0


class Clock:
    def __init__(self):
        self.now_s = T0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


def breakers(clock, url=NO_REDIS):
    return Breakers(RedisLink(url), policy=lambda: Policy(slow_s=0), wall_s=clock)


def passage(made, cluster_id=CLUSTER, tenant_id=TENANT, slots=None):
    return Passage(cluster_id, tenant_id, breakers=made, slots=slots or Slots())


def silent():
    raise timed_out("describe cluster: no answer in 10 s", write=False)


def refused(made, **arguments):
    with pytest.raises(GatewayError) as caught:
        made.run(silent, what="describe cluster", **arguments)
    return caught.value


def test_an_open_breaker_refuses_at_once_and_says_since_when_and_for_how_long(clock):
    made = passage(breakers(clock))
    assert made.run(lambda: 7, what="count") == 7
    clock.now_s += 60
    assert [refused(made).code for _ in range(2)] == ["timed-out"] * 2
    error = refused(made)
    assert (error.code, error.retry_after_s, error.unknown_outcome) == (NOT_ANSWERING, 1.0, False)
    problem = error.as_problem()
    assert (problem.status, problem.code, problem.retry_after_s) == (503, "cluster-unreachable", 1)
    assert "has not answered since 1970-01-12T13:46:40Z" in problem.detail
    assert "no answer in 10 s" in problem.detail
    clock.now_s += 1
    assert made.run(lambda: 8, what="count") == 8
    assert made.run(lambda: 9, what="count") == 9


def test_a_refusal_in_kafkas_words_is_an_answer(clock):
    made, known = passage(shared := breakers(clock)), None

    def unknown():
        raise GatewayError("UNKNOWN_TOPIC_OR_PARTITION")

    for _ in range(5):
        with pytest.raises(GatewayError) as caught:
            made.run(unknown, what="delete topic")
        known, _ = shared.look(CLUSTER)
        assert caught.value.code == "UNKNOWN_TOPIC_OR_PARTITION"
    assert (known.state, known.answered_at_s) == (CLOSED, T0)


@pytest.mark.parametrize(
    ("code", "retriable", "counts"),
    [
        ("NOT_CONTROLLER", True, False),
        ("SASL_AUTHENTICATION_FAILED", False, False),
        ("login-wanted", False, False),
        ("dns-failed", True, True),
        ("tls-expired", False, False),
        ("egress-refused", False, False),
    ],
)
def test_what_counts_as_no_answer(clock, code, retriable, counts):
    made = passage(shared := breakers(clock))

    def fails():
        raise GatewayError(code, retriable=retriable)

    for _ in range(3):
        with pytest.raises(GatewayError):
            made.run(fails, what="list topics")
    assert shared.look(CLUSTER)[0].state == (OPEN if counts else CLOSED)
    answers = shared.look(CLUSTER)[0].answered_at_s is not None
    assert answers is (code.isupper() or code == "login-wanted")
    if code == "tls-expired":  # a probe has to end in something, or nobody could be the next
        for _ in range(2):
            refused(made)
        clock.now_s += 1
        with pytest.raises(GatewayError):
            made.run(fails, what="probe")
        assert shared.look(CLUSTER)[0].state == OPEN


def test_what_one_process_learns_all_know_and_one_alone_probes(clock, redis_server):
    processes = [passage(breakers(clock, redis_server.url)) for _ in range(8)]
    for _ in range(2):
        refused(processes[0])
    assert [refused(each).code for each in processes] == [NOT_ANSWERING] * 8
    clock.now_s += 1
    inside, go_on = [], threading.Event()

    def probe():
        inside.append(1)
        go_on.wait(10)
        return "here"

    answers = []

    def ask(each):
        try:
            answers.append(each.run(probe, what="probe"))
        except GatewayError as error:
            answers.append(error.code)

    threads = [threading.Thread(target=ask, args=(each,)) for each in processes]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(answers) == 7)
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert len(inside) == 1
    assert sorted(answers) == ["here", *[NOT_ANSWERING] * 7]
    assert [each.run(lambda: 1, what="count") for each in processes] == [1] * 8


@pytest.mark.parametrize("trouble", ["kill", "pause"])
def test_without_redis_a_process_goes_by_what_it_knew_and_learns_for_itself(
    clock, redis_server, trouble
):
    made = breakers(clock, redis_server.url)
    known, fresh = passage(made), passage(made, "kc_two")
    for _ in range(2):
        refused(known)
    assert refused(known).code == NOT_ANSWERING
    getattr(redis_server, trouble)()
    began_s = time.monotonic()
    assert refused(known).code == NOT_ANSWERING
    assert [refused(fresh).code for _ in range(3)] == ["timed-out", "timed-out", NOT_ANSWERING]
    assert time.monotonic() - began_s < 3, "a Redis that hangs is asked once, not at each question"
    if trouble == "pause":
        redis_server.resume()


def test_a_dead_cluster_costs_one_line_a_minute_over_all_processes(clock, redis_server, caplog):
    for _ in range(4):
        made = passage(breakers(clock, redis_server.url))
        for _ in range(5):
            refused(made)
    lines = [row for row in caplog.records if CLUSTER in row.getMessage()]
    assert len(lines) == 1
    assert "does not answer" in lines[0].getMessage()


def test_the_library_that_tries_again_and_again_adds_no_lines(clock, redis_server, caplog):
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody_listens.getsockname()[1]}"
        inner = KafkaGateway(ConnectionSpec(bootstrap_servers=(address,), timeout_s=0.3))
        gateway = GuardedGateway(inner, passage(breakers(clock, redis_server.url)))
        for _ in range(5):
            with pytest.raises(GatewayError):
                gateway.describe_cluster()
        gateway.close()
    assert len(caplog.records) == 1


# -- bounds ------------------------------------------------------------------------------------
class Held:
    """Questions that stay until they are let go."""

    def __init__(self):
        self.let_go = threading.Event()
        self.threads = []
        self.inside = 0
        self.refused = []

    def ask(self, made):
        def work():
            self.inside += 1
            self.let_go.wait(10)

        def run():
            try:
                made.run(work, what="list topics")
            except GatewayError as error:
                self.refused.append(error)

        thread = threading.Thread(target=run)
        self.threads.append(thread)
        thread.start()

    def end(self):
        self.let_go.set()
        for thread in self.threads:
            thread.join(10)


@pytest.fixture
def held():
    made = Held()
    yield made
    made.end()


def test_a_tenants_silent_clusters_together_hold_few_threads(clock, held, settings):
    settings.GATEWAY_DOUBTFUL_CALLS_PER_TENANT = 2
    shared, slots = breakers(clock), Slots()
    for number in range(8):
        shared.failed(
            f"kc_{number}", took_s=10, reason="silent", is_probe=False, is_particular=False
        )
        held.ask(passage(shared, f"kc_{number}", slots=slots))
    wait_until(lambda: len(held.refused) == 6)
    assert held.inside == 2
    assert {(error.code, error.as_problem().status) for error in held.refused} == {(BUSY, 503)}
    healthy = passage(shared, "kc_other", "2", slots=slots)
    assert healthy.run(lambda: "other", what="list topics") == "other"
    same_tenant = passage(shared, "kc_well", slots=slots)
    assert same_tenant.run(lambda: "well", what="list topics") == "well"


def test_one_cluster_and_one_tenant_have_bounds_and_a_turn_is_waited_for(clock, held, settings):
    settings.GATEWAY_CALLS_PER_CLUSTER, settings.GATEWAY_CALLS_PER_TENANT = 2, 3
    settings.GATEWAY_WAIT_S = 0.05
    shared, slots = breakers(clock), Slots()
    for number in (1, 1, 2):
        held.ask(passage(shared, f"kc_{number}", slots=slots))
    wait_until(lambda: held.inside == 3)
    for number in (1, 3):
        with pytest.raises(GatewayError) as caught:
            passage(shared, f"kc_{number}", slots=slots).run(lambda: 0, what="list topics")
        assert caught.value.code == BUSY
    settings.GATEWAY_WAIT_S = 10
    threading.Timer(0.1, held.let_go.set).start()
    assert passage(shared, "kc_1", slots=slots).run(lambda: "turn", what="list topics") == "turn"
    wait_until(lambda: not slots.held(f"tenant:{TENANT}"))


def test_first_looks_of_a_tenant_hold_few_threads(settings):
    settings.GATEWAY_DOUBTFUL_CALLS_PER_TENANT = 2
    slots = Slots()
    with first_look("1", slots), first_look("1", slots):
        with pytest.raises(GatewayError) as caught, first_look("1", slots):
            pass
        problem = caught.value.as_problem()
        assert (problem.status, problem.code, problem.retry_after_s) == (503, "cluster-busy", 1)
        with first_look("2", slots):
            pass
    with pytest.raises(ZeroDivisionError), first_look("1", slots):
        _ = 1 // 0
    assert not slots.held("doubtful:1")


def test_a_question_that_breaks_gives_its_slot_back(clock, settings):
    settings.GATEWAY_CALLS_PER_CLUSTER, settings.GATEWAY_WAIT_S = 1, 0
    made = passage(breakers(clock))
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            made.run(lambda: 1 // 0, what="divide")


# -- the gateway behind it ---------------------------------------------------------------------
def guarded(clock, fake):
    return GuardedGateway(fake, passage(breakers(clock)))


def questions_of(port):
    return sorted({name for name in vars(port) if name[0] != "_"} - VIEWS - {"close"})


def test_every_question_of_the_port_passes(clock):
    fake = FakeGateway(brokers=1)
    gateway, shared = guarded(clock, fake), breakers(clock)
    made = GuardedGateway(fake, passage(shared))
    shared.failed(CLUSTER, took_s=10, reason="silent", is_probe=False, is_particular=False)
    shared.failed(CLUSTER, took_s=10, reason="silent", is_probe=False, is_particular=False)
    assert shared.look(CLUSTER)[0].state == OPEN
    asked = [(made, ClusterGateway, name) for name in questions_of(ClusterGateway)]
    asked += [(made.at(1), BrokerView, name) for name in questions_of(BrokerView)]
    assert len(asked) > 26
    for whom, port, name in asked:
        wanted = inspect.signature(getattr(port, name)).parameters.values()
        given = [None for each in wanted if each.default is each.empty and each.name != "self"]
        with pytest.raises(GatewayError) as caught:
            getattr(whom, name)(*given)
        assert caught.value.code == NOT_ANSWERING, name
    assert gateway.describe_cluster().brokers
    with pytest.raises(AttributeError):
        _ = gateway.no_such_question


def test_it_closes_with_the_last_question_that_is_under_way(clock):
    fake = FakeGateway(brokers=1)
    closed, inside, go_on = [], threading.Event(), threading.Event()
    fake.close = lambda: closed.append(1)
    describe = fake.describe_cluster

    def slowly():
        inside.set()
        go_on.wait(10)
        return describe()

    fake.describe_cluster = slowly
    gateway, found = guarded(clock, fake), []
    thread = threading.Thread(target=lambda: found.append(gateway.describe_cluster()))
    thread.start()
    inside.wait(10)
    gateway.close()
    assert not closed
    with pytest.raises(GatewayError) as caught:
        gateway.list_topics()
    assert (caught.value.code, caught.value.retriable) == (UNREACHABLE, True)
    go_on.set()
    thread.join(10)
    assert found
    assert closed == [1]
    gateway.close()
    assert closed == [1]


def test_a_closed_way_says_nothing_of_the_cluster(clock):
    shared = breakers(clock)
    gateway = GuardedGateway(FakeGateway(brokers=1), passage(shared))
    gateway.close()
    for _ in range(4):
        with pytest.raises(GatewayError):
            gateway.list_topics()
    assert shared.look(CLUSTER)[0].state == CLOSED
    with pytest.raises(GatewayError):
        passage(shared).run(lambda: (_ for _ in ()).throw(unreachable("x")), what="x")
    assert shared.look(CLUSTER)[0].failures == 1
