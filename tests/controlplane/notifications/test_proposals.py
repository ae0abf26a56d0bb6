"""Self-healing that asks first: who is told, once a proposal, and how it ended."""

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.healing.models import HealingCase
from controlplane.notifications.events import event_of
from controlplane.notifications.kinds.email import render
from controlplane.notifications.kinds.message import Stamp, Target
from controlplane.notifications.models import Delivery, Destination
from controlplane.operations.models import Operation
from tests.controlplane.healing.test_rounds import (
    alive,
    brokers,  # noqa: F401 - a fixture
    clock,  # noqa: F401 - a fixture
    dies,
    policy,
    registers,
    shown,
)
from tests.controlplane.support import client_for, tenant_make


@pytest.fixture
def asking(brokers, settings):  # noqa: F811 - the fixture
    """A cluster whose self-healing asks, two destinations of its tenant, one of another's."""
    settings.PUBLIC_URL = "https://penstock.example/"
    policy(brokers, mode="ask")
    rows = (
        ("all", brokers.tenant, {}),
        ("worst", brokers.tenant, {"min_severity": "critical"}),
        ("rules", brokers.tenant, {"rules": ["broker-down"]}),
        ("named", brokers.tenant, {"rules": ["healing-proposed"]}),
        ("foreign", tenant_make("rival"), {}),
    )
    for name, tenant, fields in rows:
        Destination.objects.create(
            tenant=tenant, name=name, kind="email", config={"to": ["a@example.org"]}, **fields
        )
    return brokers


def told():
    """Destination and state of what is to be told, in order."""
    rows = Delivery.objects.order_by("destination__name", "ordinal")
    return [(row.destination.name, row.event_state) for row in rows]


def test_a_proposal_is_told_once_however_long_it_stands(asking, clock):  # noqa: F811
    dies(asking)
    clock.rounds(9)
    assert HealingCase.objects.get().state == "proposed"
    assert told() == [("all", "firing"), ("named", "firing")]


def test_what_is_told_says_what_approving_does_and_no_host(asking, clock):  # noqa: F811
    dies(asking)
    clock.rounds(6)
    case, row = HealingCase.objects.get(), Delivery.objects.filter(destination__name="all").get()
    event = event_of(row.event)
    assert (event.alert_id, event.rule, event.severity) == (case.id, "healing-proposed", "warning")
    assert event.summary == "main: shall broker 2 be put on another host?"
    assert event.console_url == f"https://penstock.example/clusters/{asking.cluster.id}"
    target = Target(config={"to": ["a@example.org"]}, secrets={})
    stamp = Stamp(delivery_id=row.id, attempt=1, sent_at=case.moved_at)
    mail = render(event, target, stamp)
    for said in (
        "The host of broker 2 is silent for 2 min",
        "nothing is done by itself",
        "begins there with an empty directory",
        "refused while a partition has no other replica in sync",
        "Saying no leaves the broker",
        event.console_url,
    ):
        assert said in mail.text.replace("\n", " "), said
    for text in (str(row.event), mail.text, mail.html, mail.subject):
        assert "host-2" not in text
        assert "host-" not in text


def test_that_it_was_approved_is_told(asking, clock):  # noqa: F811
    dies(asking)
    clock.rounds(6)
    asking.start(asking.plan("cluster.replace_broker", broker=2))
    clock.rounds(2)
    assert told() == [
        ("all", "firing"), ("all", "resolved"), ("named", "firing"), ("named", "resolved")
    ]  # fmt: skip
    last = event_of(Delivery.objects.filter(event_state="resolved").first().event)
    assert last.description.startswith("It was approved")
    assert last.resolved_at is not None


@pytest.mark.parametrize("end", ["dismissed", "withdrawn"])
def test_that_it_ended_otherwise_is_told(asking, clock, end):  # noqa: F811
    dies(asking)
    clock.rounds(6)
    if end == "dismissed":
        case = HealingCase.objects.get()
        address = f"/api/v1/clusters/{asking.cluster.id}/healing/cases/{case.pk}/dismissal"
        assert client_for(asking.tenant).post(address).status_code == 200
    else:
        alive(asking, "host-2", value=True)
        clock.rounds(1)
    assert HealingCase.objects.get().state == end
    assert told().count(("all", "resolved")) == 1


def test_one_that_waits_meanwhile_is_the_same_proposal(asking, clock):  # noqa: F811
    dies(asking)
    clock.rounds(6)
    alive(asking, "host-3", value=False)
    clock.rounds(2)
    assert HealingCase.objects.get().state == "waiting"
    alive(asking, "host-3", value=True)
    clock.rounds(2)
    assert HealingCase.objects.get().state == "proposed"
    assert told() == [("all", "firing"), ("named", "firing")]


def test_what_is_done_by_itself_asks_nobody(asking, clock):  # noqa: F811
    policy(asking)
    registers(asking)
    dies(asking)
    assert clock.rounds(6) == 1
    assert told() == []


def test_nothing_that_a_tenant_reads_of_it_names_a_host(asking, clock):  # noqa: F811
    """Hosts are the operators'."""
    dies(asking)
    clock.rounds(2)
    assert "host-" not in str(shown(asking))
    clock.rounds(4)
    policy(asking)
    registers(asking)
    clock.rounds(2)
    assert "host-" not in str(shown(asking))
    assert "host-" not in Operation.objects.get().reason
    rows = AuditEvent.objects.filter(tenant_id=asking.tenant.pk, action__startswith="healing.")
    assert rows.exists()
    assert not any("host-" in row.reason for row in rows)
