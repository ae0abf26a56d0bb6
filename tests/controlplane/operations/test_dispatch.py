"""Who runs a task about a cluster: the normal pool, that for clusters that do not answer, or nobody yet."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.clusters.models import REGISTERED
from controlplane.gateway.breaker import OPEN
from controlplane.gateway.breakers import BREAKERS
from controlplane.gateway.errors import BUSY, NOT_ANSWERING, GatewayError
from controlplane.operations import dispatch, outbox, tasks
from controlplane.operations.dispatch import Verdict, place_of_cluster, place_of_operation
from controlplane.operations.models import Operation
from controlplane.operations.operations import required_kind
from controlplane.operations.queues import NORMAL, PUT_BACK_S, QUEUES, SLOW, in_turns
from controlplane.operations.services import operation_cancel
from deploy.local import stack
from tests.controlplane.support import ACTOR, cluster_make, drive, step, tenant_make

TOPIC = {"name": "orders", "partitions": 1, "replication_factor": 1}


@pytest.fixture(autouse=True)
def no_slots_held():
    yield
    assert dispatch.SLOTS.take({f"tenant:{tenant}": 1 for tenant in range(50)})
    dispatch.SLOTS.give_back({f"tenant:{tenant}": 1 for tenant in range(50)})


def doubt(cluster_id, times=1):
    for _ in range(times):
        BREAKERS.failed(cluster_id, took_s=10, reason="silent", is_probe=False, is_particular=False)


def verdict(place, came_by=NORMAL):
    with place.taken(came_by) as found:
        return found


def place(tenant_id, cluster_id, task_id="op_1"):
    return place_of_cluster(task_id, tenant_id=tenant_id, cluster_id=cluster_id)


def test_a_first_contact_runs_in_the_pool_for_such(world):
    operation = world.start(
        world.plan(
            "cluster.register",
            None,
            name="elsewhere",
            bootstrap_servers="192.0.2.1:9092",
            security_protocol="PLAINTEXT",
        )
    )
    found = place_of_operation(operation.id)
    assert found is not None
    assert (found.queue, found.tenant_id) == (SLOW, str(world.tenant.id))
    assert verdict(found) is Verdict.MOVE


def test_a_cluster_whose_last_question_was_in_vain_leaves_the_normal_pool_and_comes_back(world):
    operation = world.start(world.plan("topic.create", **TOPIC))
    assert verdict(place_of_operation(operation.id)) is Verdict.RUN
    doubt(world.cluster.id)
    found = place_of_operation(operation.id)
    assert verdict(found, NORMAL) is Verdict.MOVE
    assert verdict(found, SLOW) is Verdict.RUN
    BREAKERS.answered(world.cluster.id)
    assert verdict(place_of_operation(operation.id), SLOW) is Verdict.MOVE
    assert verdict(place_of_operation(operation.id), NORMAL) is Verdict.RUN


def test_a_task_that_came_by_no_queue_of_ours_runs_where_it_is(world):
    doubt(world.cluster.id)
    for came_by in (None, "an.operators.own"):
        assert verdict(place("1", world.cluster.id), came_by) is Verdict.RUN


def test_a_tenant_at_its_bound_waits_and_the_next_does_not(settings):
    settings.TASKS_PER_TENANT, settings.TASKS_PER_CLUSTER = 2, 2
    with place("1", "kc_1").taken(NORMAL) as one, place("1", "kc_2").taken(NORMAL) as two:
        assert (one, two) == (Verdict.RUN, Verdict.RUN)
        assert verdict(place("1", "kc_3")) is Verdict.WAIT
        assert verdict(place("1", None, "op_2")) is Verdict.WAIT
        assert verdict(place("2", "kc_4")) is Verdict.RUN
    assert verdict(place("1", "kc_3")) is Verdict.RUN


def test_a_cluster_has_a_bound_of_its_own(settings):
    settings.TASKS_PER_TENANT, settings.TASKS_PER_CLUSTER = 3, 1
    with place("1", "kc_1").taken(NORMAL):
        assert verdict(place("1", "kc_1")) is Verdict.WAIT
        assert verdict(place("1", "kc_2")) is Verdict.RUN


def test_black_holes_of_one_tenant_hold_its_share_of_the_slow_pool_at_most(settings):
    settings.SLOW_TASKS_PER_TENANT, settings.SLOW_TASKS_PER_CLUSTER = 2, 1
    for number in range(8):
        doubt(f"kc_{number}")
    with place("1", "kc_0").taken(SLOW), place("1", "kc_1").taken(SLOW):
        assert [verdict(place("1", f"kc_{n}", f"op_{n}"), SLOW) for n in range(2, 8)] == [
            Verdict.WAIT
        ] * 6
        doubt("kc_of_another")
        assert verdict(place("2", "kc_of_another"), SLOW) is Verdict.RUN


def test_a_round_takes_the_same_share_and_passes_by_who_has_it(settings):
    settings.SLOW_TASKS_PER_TENANT, settings.SLOW_TASKS_PER_CLUSTER = 2, 1
    doubt("kc_0")
    share = dispatch.slow_share
    with place("1", "kc_0").taken(SLOW), share(tenant_id="1", cluster_id="kc_1") as second:
        assert second
        with share(tenant_id="1", cluster_id="kc_2") as third:
            assert not third
        with share(tenant_id="2", cluster_id="kc_1") as others:
            assert not others, "one thread a cluster"
        with share(tenant_id="2", cluster_id="kc_3") as others:
            assert others
        assert dispatch.SLOTS.held("tenant:1") == 2


def test_tenants_take_turns_in_their_own_order():
    rows = [("a", 1), ("a", 2), ("a", 3), ("b", 4), ("c", 5), ("b", 6)]
    assert in_turns(rows) == [1, 4, 5, 2, 6, 3]
    assert in_turns([]) == []


def test_a_step_that_breaks_gives_its_slots_back(settings):
    settings.TASKS_PER_TENANT = 1
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), place("1", "kc_1").taken(NORMAL):
            _ = 1 // 0


def test_copies_end_where_the_first_one_waits_or_moves(settings, redis_server):
    settings.TASKS_PER_TENANT = settings.TASKS_PER_CLUSTER = 1
    with place("1", "kc_1").taken(NORMAL):
        assert verdict(place("1", "kc_1")) is Verdict.WAIT
        assert verdict(place("1", "kc_1")) is Verdict.DROP
        assert verdict(place("1", "kc_1", "op_2")) is Verdict.WAIT
    doubt("kc_1")
    assert verdict(place("1", "kc_1")) is Verdict.MOVE
    assert verdict(place("1", "kc_1")) is Verdict.DROP
    assert verdict(place("1", "kc_1"), SLOW) is Verdict.RUN
    assert verdict(place("1", "kc_1")) is Verdict.MOVE, "it has arrived: the next tick moves again"


def test_an_operation_that_is_over_or_not_due_is_nobodys(world):
    operation = world.start(world.plan("topic.create", **TOPIC))
    later = timezone.now() + timedelta(seconds=30)
    Operation.objects.filter(pk=operation.id).update(next_run_at=later)
    assert place_of_operation(operation.id) is None
    operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    assert place_of_operation(operation.id) is not None, "a cancellation does not wait for a step"
    drive(operation)
    assert place_of_operation(operation.id) is None
    assert place_of_operation("op_unknown") is None


class Request:
    def __init__(self, queue, *args):
        self.delivery_info, self.args = {"routing_key": queue}, args


class Sent:
    """What a task sends again."""

    def __init__(self, queue, *args):
        self.request, self.sent = Request(queue, *args), []

    def apply_async(self, args, **options):
        self.sent.append((args, options))


def test_a_task_goes_on_with_its_own_arguments_to_where_it_belongs(settings):
    ran: list[int] = []
    task = Sent(NORMAL, "op_1")
    doubt("kc_1")
    assert dispatch.run_here(task, place("1", "kc_1"), lambda: ran.append(1), expires=9) is None
    assert task.sent == [(("op_1",), {"queue": SLOW, "expires": 9})]
    settings.SLOW_TASKS_PER_TENANT = 1
    busy = Sent(SLOW, "op_1")
    with place("1", "kc_1").taken(SLOW):
        dispatch.run_here(busy, place("1", "kc_1"), lambda: ran.append(2))
    assert busy.sent == [(("op_1",), {"queue": SLOW, "countdown": PUT_BACK_S[SLOW]})]
    assert not ran
    here = Sent(SLOW, "op_1")
    assert dispatch.run_here(here, place("1", "kc_1"), lambda: "done") == "done"
    assert here.sent == []


def test_a_step_refused_by_an_open_breaker_is_due_when_the_cluster_is_asked_again(
    world, django_capture_on_commit_callbacks
):
    operation = world.start(world.plan("topic.create", **TOPIC))
    refusal = GatewayError(
        NOT_ANSWERING, "It is asked again in 25 s.", retriable=True, retry_after_s=25.0
    )
    for question in ("describe_topics", "create_topic"):
        world.gateway.fail_next(question, refusal)
    before = timezone.now()
    with django_capture_on_commit_callbacks(execute=True):
        tasks.operation_tick(operation.id)
    operation.refresh_from_db()
    waits_s = (operation.next_run_at - before).total_seconds()
    assert 24 < waits_s < 30
    assert (outbox.TICK, [operation.id], 25.0) in world.sent
    assert "asked again in 25 s" in step(operation, "create").detail
    assert place_of_operation(operation.id) is None, "its worker is free until then"


def test_an_open_breaker_shows_in_the_record(world):
    cluster = cluster_make(tenant_make("other"), name="silent", kind=REGISTERED)
    doubt(cluster.id, times=2)
    assert BREAKERS.look(cluster.id)[0].state == OPEN


def test_few_plans_of_a_tenant_ask_addresses_that_nobody_has_reached(world, monkeypatch, settings):
    """Whatever planning does there: it holds a thread of the web process meanwhile."""
    settings.GATEWAY_DOUBTFUL_CALLS_PER_TENANT = 1
    kind = required_kind("cluster.register")
    plan, inputs = (
        kind.plan,
        {
            "bootstrap_servers": "192.0.2.1:9092",
            "security_protocol": "PLAINTEXT",
        },
    )
    refusals: list[str] = []

    def planned(context, given):
        if given["name"] == "first":
            with pytest.raises(GatewayError) as caught:
                world.plan("cluster.register", None, name="second", **inputs)
            refusals.append(caught.value.code)
        return plan(context, given)

    monkeypatch.setattr(kind, "plan", planned, raising=False)
    assert world.plan("cluster.register", None, name="first", **inputs)
    assert refusals == [BUSY]
    assert world.plan("cluster.register", None, name="second", **inputs)


def test_what_beat_sends_goes_to_a_queue_that_has_workers(settings):
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        assert entry.get("options", {}).get("queue", NORMAL) in QUEUES


def test_the_launcher_starts_a_worker_for_the_queue():
    assert stack.SLOW_QUEUE == SLOW
