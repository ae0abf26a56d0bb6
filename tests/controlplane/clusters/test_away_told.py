"""Why ZooKeeper does not answer names the platform's logins, hosts and commands: tenants are told
that it does not, and the log why.
"""

import logging

import pytest

from controlplane.clusters import log_dirs, selectors, versions_read
from controlplane.clusters.brokers import broker_process
from controlplane.clusters.models import Broker
from controlplane.clusters.replacing_places import hosts_now
from controlplane.clusters.zookeeper_away import CODE, SAID
from controlplane.common.grants import EVERYTHING
from controlplane.common.problems import Unavailable
from controlplane.drift.audit_logs import changes_since
from controlplane.observed.drift_sentences import unread_said
from controlplane.operations.operations import StepRetryError
from tests.controlplane.support import drive

WHY = "the login controlplane is refused by ensemble e@7: run manage.py zookeeper protect"


@pytest.fixture
def placed(world):
    Broker.objects.create(
        cluster=world.cluster, broker_id=1, host_id="host-1", address="127.0.0.1",
        client_port=9092, internal_port=9093,
    )  # fmt: skip
    world.hosts.away_because = WHY
    return world


def rows_of(world):
    return list(world.cluster.brokers.all())


@pytest.mark.parametrize(
    "ask",
    [
        lambda world: log_dirs.rooms_of(rows_of(world)),
        lambda world: versions_read.installed_on(rows_of(world)),
        lambda world: versions_read.reported_by(rows_of(world)),
        lambda world: world.plan("cluster.change_zookeeper", canary_s=0),
        lambda _world: selectors.host_rows(),
        lambda world: broker_process(EVERYTHING, world.cluster, 1),
        lambda world: world.plan("cluster.create", None, name="demo"),
    ],
)
def test_pages_and_plans_say_that_it_does_not_answer(placed, ask, caplog):
    placed.hosts.is_away = True
    with caplog.at_level(logging.WARNING), pytest.raises(Unavailable) as caught:
        ask(placed)
    assert (caught.value.detail, caught.value.code) == (SAID, CODE)
    assert WHY in caplog.text


def test_drift_says_no_more_of_audit_logs_that_could_not_be_read(placed):
    placed.hosts.is_away = True
    said = f"The audit logs could not be read: {SAID}"
    assert unread_said("not-read", reason=SAID)["unread"] == said
    assert changes_since(placed.cluster, 0) == (
        [],
        unread_said("not-read", reason=SAID),
    )


def test_steps_of_operations_say_no_more(placed):
    operation = placed.start(placed.plan("cluster.create", None, name="demo"))
    placed.hosts.is_away = True
    drive(operation, ticks=3)
    assert {row.detail for row in operation.steps.all()} == {"", SAID}
    with pytest.raises(StepRetryError) as caught:
        hosts_now()
    assert str(caught.value) == SAID
