"""The lease of a pass: short, kept while its worker lives, and what a worker without it may not do."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from controlplane.clusters.connections import use_gateways
from controlplane.common import leases
from controlplane.common.lease_keeper import LeaseKeeper, LeaseLostError, use_keeper
from controlplane.gateway.fake import FakeGateway
from controlplane.observed import services
from controlplane.observed.models import ObservedCluster
from controlplane.observed.sections import TOPICS
from controlplane.observed.selectors import rows_of
from controlplane.observed.services import LEASE, due, observe
from tests.controlplane.support import observed, reader_of_all

SHORT = timedelta(seconds=0.6)
DEAD_FOR_S_MAX = 6.0
"""How long a cluster may go unobserved because its worker was killed."""


def topics(world):
    return [row.key for row in rows_of(reader_of_all(world), TOPICS)]


def lease_of(world):
    row = ObservedCluster.objects.get(pk=world.cluster.id)
    return row.lease_token, row.lease_expires_at


def during_a_pass(world, action):
    """Do it once, while the next pass is between two questions."""
    real = world.gateway.list_acls

    def list_acls():
        world.gateway.list_acls = real
        action()
        return real()

    world.gateway.list_acls = list_acls


def run_out(world):
    past = timezone.now() - timedelta(seconds=1)
    ObservedCluster.objects.filter(pk=world.cluster.id).update(lease_expires_at=past)


def test_a_killed_worker_s_cluster_is_observed_as_soon_as_its_lease_has_run_out(world):
    """It left its token and its turn, which is now."""
    assert LEASE.total_seconds() < DEAD_FOR_S_MAX
    observed(world)
    row = ObservedCluster.objects.filter(pk=world.cluster.id)
    row.update(due_at=timezone.now())
    assert leases.claim(row, LEASE)
    sent = []
    assert due(sent.append) == 0
    assert observe(world.cluster.id) is False
    run_out(world)
    assert due(sent.append) == 1
    assert sent == [world.cluster.id]
    world.gateway.add_topic("new")
    assert observe(world.cluster.id) is True
    assert topics(world) == ["new"]


def test_a_worker_that_comes_back_overwrites_nothing_newer(world, caplog):
    """It stood still past its lease; another pass began and ended meanwhile."""
    world.gateway.add_topic("old")
    observed(world)

    def meanwhile():
        run_out(world)
        world.gateway.delete_topic("old")
        world.gateway.add_topic("new")
        assert observe(world.cluster.id) is True

    during_a_pass(world, meanwhile)
    assert observe(world.cluster.id) is False
    assert topics(world) == ["new"]
    assert "another pass took over" in caplog.text


def test_a_worker_that_comes_back_leaves_the_lease_of_the_one_that_is_at_it(world):
    rows = ObservedCluster.objects.filter(pk=world.cluster.id)
    observed(world)
    others = []

    def meanwhile():
        run_out(world)
        others.append(leases.claim(rows, LEASE))

    during_a_pass(world, meanwhile)
    assert observe(world.cluster.id) is False
    assert lease_of(world)[0] == others[0]


def test_a_lease_that_nobody_took_meanwhile_still_counts(world):
    during_a_pass(world, lambda: run_out(world))
    assert observe(world.cluster.id) is True


def test_who_lost_it_asks_the_brokers_nothing_more(world, monkeypatch):
    observed(world)

    def lost(_lease):
        raise LeaseLostError("it is another worker's")

    monkeypatch.setattr(LeaseKeeper, "check", lambda _keeper, lease: lost(lease))
    world.gateway.calls.clear()
    assert observe(world.cluster.id) is False
    assert "list_acls" not in world.gateway.calls
    assert lease_of(world) == ("", None), "nobody took it: the next round need not wait"


def refused(world):
    world.gateway.fail_next("list_users", ZeroDivisionError("bug"))
    with pytest.raises(ZeroDivisionError):
        observe(world.cluster.id)


def taken(world):
    during_a_pass(world, lambda: ObservedCluster.objects.update(lease_token="another's"))
    assert observe(world.cluster.id) is False


@pytest.mark.parametrize("end", [observed, refused, taken])
def test_after_a_pass_the_process_holds_nothing(world, end):
    """Else it would hold more and more, and in the end observe nothing."""
    use_keeper(LeaseKeeper(held_max=1, in_background=False))
    for _ in range(3):
        end(world)
        ObservedCluster.objects.update(lease_token="", lease_expires_at=None)
    assert observe(world.cluster.id) is True


def test_the_lease_costs_one_statement_and_goes_with_what_was_read(world):
    """Killed right after it, the next pass need not wait."""
    observed(world)
    table = f'UPDATE "{ObservedCluster._meta.db_table}"'
    written, tokens = [], []

    def note(execute, sql, params, many, context):
        found = execute(sql, params, many, context)
        if sql.startswith(table):
            written.append(sql)
            tokens.append(lease_of(world)[0])
        return found

    with connection.execute_wrapper(note):
        observed(world)
    assert len(written) == 2, written
    assert [bool(token) for token in tokens] == [True, False]


# -- two workers ---------------------------------------------------------------------------------
class BlockingGateway(FakeGateway):
    """The thread `slow` stands still at ACLs until it is told to go on."""

    def __init__(self):
        super().__init__(brokers=4)
        self.stands, self.go_on = threading.Event(), threading.Event()

    def list_acls(self):
        if threading.current_thread().name == "slow" and not self.stands.is_set():
            self.stands.set()
            assert self.go_on.wait(60)
        return super().list_acls()


@pytest.fixture
def slow(world, monkeypatch):
    """A pass under way in a worker of its own, with a thread that renews its lease."""
    world.gateway = BlockingGateway()
    use_gateways(lambda _cluster: world.gateway)
    monkeypatch.setattr(services, "LEASE", SHORT)
    keepers = {"slow": LeaseKeeper(), "MainThread": LeaseKeeper()}
    monkeypatch.setattr(services, "keeper", lambda: keepers[threading.current_thread().name])
    results = []

    def run():
        try:
            results.append(observe(world.cluster.id))
        finally:
            connection.close()

    thread = threading.Thread(target=run, name="slow")
    thread.start()
    assert world.gateway.stands.wait(60)

    def end():
        world.gateway.go_on.set()
        thread.join(60)
        return results

    yield keepers["slow"], end
    end()
    for keeper in keepers.values():
        keeper.stop()


@pytest.mark.django_db(transaction=True)
def test_a_slow_pass_keeps_its_lease(world, slow):
    """It takes several times as long as a lease lasts, and nobody else begins one."""
    _, end = slow
    first = lease_of(world)[1]
    while lease_of(world)[1] < first + 3 * SHORT:
        assert observe(world.cluster.id) is False
        threading.Event().wait(0.02)
    assert end() == [True]
    assert lease_of(world) == ("", None)


@pytest.mark.django_db(transaction=True)
def test_a_pass_that_stood_still_past_its_lease_writes_nothing(world, slow, monkeypatch):
    """As SIGSTOP does it: the pass and the renewing thread stand still, and go on afterwards."""
    keeper, end = slow
    monkeypatch.setattr(keeper, "renew", lambda _due: True)
    world.gateway.add_topic("new")
    while not observe(world.cluster.id):
        threading.Event().wait(0.02)
    monkeypatch.undo()
    before = ObservedCluster.objects.values().get(pk=world.cluster.id)
    assert end() == [False]
    assert ObservedCluster.objects.values().get(pk=world.cluster.id) == before
    assert topics(world) == ["new"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite locks no rows")
def test_a_row_that_a_pass_is_writing_is_not_waited_for(world):
    """However long that takes: a worker that waited would be missing for everything else."""
    observed(world)
    is_locked, may_end = threading.Event(), threading.Event()

    def write():
        try:
            with transaction.atomic():
                ObservedCluster.objects.select_for_update().get(pk=world.cluster.id)
                is_locked.set()
                assert may_end.wait(60)
        finally:
            connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert is_locked.wait(60)
        assert observe(world.cluster.id) is False
    finally:
        may_end.set()
        thread.join(60)
    assert observe(world.cluster.id) is True
