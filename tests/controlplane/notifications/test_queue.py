"""From an event to its receivers: what is written, in what order it goes, what a failure makes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest
from django.conf import settings as configured
from django.db import connection, transaction
from django.utils import timezone

from controlplane.celery import app
from controlplane.common.transitions import IllegalTransitionError
from controlplane.notifications import http_sender, queue, sending, services
from controlplane.notifications.models import Delivery, Destination
from controlplane.notifications.rules import ATTEMPTS_MAX, Outcome
from controlplane.notifications.services import publish, tidy
from controlplane.tenants.models import CLOSED
from tests.controlplane.gateway.peers import serving, silent
from tests.controlplane.notifications.events import event
from tests.controlplane.notifications.receivers import free_port, http_receiver, smtp_receiver
from tests.controlplane.support import tenant_make

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback")]


def send_due(**more):
    return sending.send_due(entropy=lambda: 0.5, **more)


def make_due():
    Delivery.objects.update(next_try_at=timezone.now() - timedelta(seconds=1))


def bodies(requests):
    return [json.loads(request.body) for request in requests]


# -- what is written ----------------------------------------------------------------------------
def test_every_destination_that_wants_an_event_gets_a_delivery(destination, told, tenant):
    destination()
    destination(min_severity="critical", rules=["group-losing-data"])
    destination(enabled=False)
    destination(rules=["broker-down"])
    destination(of=tenant_make("other"))
    assert told() == 2
    assert {row.tenant_id for row in Delivery.objects.all()} == {tenant.pk}
    assert {row.state for row in Delivery.objects.all()} == {"pending"}


def test_an_event_is_told_if_its_transaction_is_committed(destination, tenant):
    destination()
    with pytest.raises(RuntimeError, match="transaction"):
        publish(event(tenant_id=tenant.pk))

    class Undone(Exception):
        pass

    def change_and_break_off():
        with transaction.atomic():
            assert publish(event(tenant_id=tenant.pk)) == 1
            raise Undone

    with pytest.raises(Undone):
        change_and_break_off()
    assert not Delivery.objects.exists()


def test_the_same_event_is_not_told_twice(destination, told):
    destination()
    assert (told(), told()) == (1, 0)
    assert told(event_id="ev_2") == 1


def test_a_destination_that_is_down_for_long_is_not_filled_without_end(
    destination, told, monkeypatch
):
    monkeypatch.setattr(services, "OPEN_MAX", 3)
    destination()
    assert [told(event_id=f"ev_{n}") for n in range(5)] == [1, 1, 1, 0, 0]


# -- sending ------------------------------------------------------------------------------------
def test_a_delivery_arrives_signed_and_is_sent(destination, told):
    with http_receiver() as (url, requests):
        made = destination(url)
        told()
        assert send_due() == 1
        assert send_due() == 0
    (request,) = requests
    row = Delivery.objects.get()
    assert (row.state, row.attempts, row.status, row.error_code) == ("sent", 1, 204, "")
    assert request.headers["Penstock-Delivery"] == row.pk
    assert request.headers["Penstock-Attempt"] == "1"
    assert request.headers["Penstock-Signature"].count("v1=") == 1
    assert json.loads(request.body)["event"]["labels"] == {"group": "billing", "topic": "orders"}
    made.refresh_from_db()
    assert (made.failures, made.last_error) == (0, "")
    assert made.last_sent_at is not None


def test_a_mail_of_an_event_arrives(destination, told, settings):
    with smtp_receiver() as (port, messages):
        settings.SMTP_HOST, settings.SMTP_PORT = "127.0.0.1", port
        settings.SMTP_SECURITY, settings.MAIL_FROM = "none", "alerts@example.org"
        destination(None, kind="email", config={"to": ["a@example.org"]}, secrets={})
        told()
        send_due()
    assert [to for to, _ in messages] == [("a@example.org",)]
    assert Delivery.objects.get().state == "sent"


def test_a_failure_is_tried_again_later_with_the_next_number(destination, told):
    with http_receiver([500, 204]) as (url, requests):
        made = destination(url)
        told()
        before = timezone.now()
        assert send_due() == 1
        row = Delivery.objects.get()
        assert (row.state, row.error_code, row.status) == ("retrying", "http-500", 500)
        wait_s = (row.next_try_at - before).total_seconds()
        assert 3.75 <= wait_s < 5.75
        assert Destination.objects.get().failures == 1
        assert send_due() == 0, "it is not due"
        make_due()
        assert send_due() == 1
    assert Delivery.objects.get().state == "sent"
    assert [r.headers["Penstock-Attempt"] for r in requests] == ["1", "2"]
    assert len({r.headers["Penstock-Delivery"] for r in requests}) == 1
    assert len({r.body for r in requests}) == 1
    made.refresh_from_db()
    assert made.failures == 0


def test_429_is_waited_for_as_long_as_it_says(destination, told):
    with http_receiver([(429, {"Retry-After": "600"})]) as (url, _):
        destination(url)
        told()
        before = timezone.now()
        send_due()
    row = Delivery.objects.get()
    assert row.state == "retrying"
    assert 600 <= (row.next_try_at - before).total_seconds() < 605


@pytest.mark.parametrize("answer", [400, 404, 410, (302, {"Location": "http://127.0.0.1:1/"})])
def test_a_refusal_is_dead_at_once(destination, told, answer):
    with http_receiver([answer]) as (url, requests):
        destination(url)
        told()
        send_due()
        make_due()
        send_due()
    row = Delivery.objects.get()
    assert (row.state, row.attempts, len(requests)) == ("dead", 1, 1)
    assert row.ended_at is not None


def test_tries_and_age_have_an_end(destination, told):
    destination(f"http://127.0.0.1:{free_port()}/")
    told()
    Delivery.objects.update(tries=ATTEMPTS_MAX - 1)
    send_due()
    assert (Delivery.objects.get().state, Delivery.objects.get().error_code) == (
        "dead",
        "too-many-attempts",
    )
    told(event_id="ev_2", alert_id="al_2")
    Delivery.objects.filter(event_id="ev_2").update(
        queued_at=timezone.now() - timedelta(hours=24, seconds=-1)
    )
    send_due()
    assert Delivery.objects.get(event_id="ev_2").error_code == "too-old"


def test_addresses_of_this_machine_are_dead_letters_unless_allowed(destination, told, settings):
    settings.EGRESS_ALLOWED = []
    with http_receiver() as (url, requests):
        destination(url)
        told()
        send_due()
    assert (Delivery.objects.get().error_code, requests) == ("egress-refused", [])


def test_a_destination_without_its_secret_is_a_dead_letter(destination, told):
    destination(None, kind="pagerduty", secrets={})
    told()
    send_due()
    assert Delivery.objects.get().error_code == "not-rendered"


def test_secrets_that_no_key_opens_are_tried_again(destination, told, settings):
    destination()
    told()
    # Of a key that this deployment does not have.
    token = "gAAAAA" + "A" * 100
    Destination.objects.update(secrets_token=token)
    send_due()
    row = Delivery.objects.get()
    assert (row.state, row.error_code) == ("retrying", "secrets")


# -- order --------------------------------------------------------------------------------------
def states(requests):
    return [(body["event"]["alert_id"], body["event"]["state"]) for body in bodies(requests)]


def test_the_end_of_an_alert_is_not_told_before_its_beginning(destination, told):
    with http_receiver([500, 204]) as (url, requests):
        destination(url)
        told()
        told(event_id="ev_2", state="acknowledged")
        told(event_id="ev_3", state="resolved")
        send_due()
        assert len(requests) == 1, "the others wait for it"
        told(event_id="ev_4", alert_id="al_2")
        send_due()
        make_due()
        send_due()
    assert states(requests) == [
        ("al_1", "firing"),
        ("al_2", "firing"),
        ("al_1", "firing"),
        ("al_1", "acknowledged"),
        ("al_1", "resolved"),
    ]


def test_a_beginning_that_is_dead_holds_nothing_up(destination, told):
    with http_receiver([404, 204]) as (url, requests):
        destination(url)
        told()
        told(event_id="ev_2", state="resolved")
        send_due()
    assert [state for _, state in states(requests)] == ["firing", "resolved"]


def test_what_another_process_holds_is_left_to_it(destination, told):
    destination()
    told()
    told(event_id="ev_2", state="resolved")
    (waiting,) = queue.waiting(timezone.now())
    job = queue.take(waiting.destination_id, timezone.now())
    assert (job.attempt, job.event["state"]) == (1, "firing")
    assert queue.waiting(timezone.now()) == []
    assert queue.take(waiting.destination_id, timezone.now()) is None
    done = Outcome(is_delivered=True, code="delivered")
    assert queue.record(job, done, timezone.now(), entropy=lambda: 0.5) == "sent"
    assert queue.take(waiting.destination_id, timezone.now()).event["state"] == "resolved"


def test_who_lost_the_lease_writes_nothing(destination, told):
    made = destination()
    told()
    job = queue.take(made.pk, timezone.now())
    Delivery.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    other = queue.take(made.pk, timezone.now())
    assert (job.attempt, other.attempt) == (1, 2)
    failed = Outcome(is_delivered=False, code="http-404")
    assert queue.record(job, failed, timezone.now(), entropy=lambda: 0.5) == ""
    assert Delivery.objects.get().state == "pending"
    done = Outcome(is_delivered=True, code="delivered")
    assert queue.record(other, done, timezone.now(), entropy=lambda: 0.5) == "sent"


def test_a_destination_that_is_deleted_meanwhile_takes_its_deliveries_along(destination, told):
    made = destination()
    told()
    job = queue.take(made.pk, timezone.now())
    made.delete()
    done = Outcome(is_delivered=True, code="delivered")
    assert queue.record(job, done, timezone.now(), entropy=lambda: 0.5) == ""
    assert not Delivery.objects.exists()


def test_a_delivery_that_was_sent_moves_nowhere(destination, told):
    destination()
    told()
    row = Delivery.objects.get()
    row.move_to("sent")
    with pytest.raises(IllegalTransitionError):
        row.move_to("pending")


# -- others' trouble ----------------------------------------------------------------------------
def test_slow_destinations_of_a_tenant_hold_nobody_else_up(destination, told, monkeypatch):
    monkeypatch.setattr(http_sender, "TIMEOUT_S", 3.0)
    other = tenant_make("other")
    arrived = []
    with (
        serving(silent) as black_hole,
        http_receiver(meanwhile=lambda r: arrived.append(time.monotonic())) as (url, requests),
    ):
        for n in range(10):
            destination(f"http://{black_hole}/{n}")
        told()
        destination(url, of=other)
        for n in range(5):
            told(of=other, event_id=f"ev_{n}", alert_id=f"al_{n}")
        began_s = time.monotonic()
        send_due(round_s=1.0)
    assert len(requests) == 5
    assert max(arrived) - began_s < 2, "they did not wait for the slow ones' deadline"
    assert Delivery.objects.filter(state="retrying").count() == 2, "a tenant's share of threads"


def test_one_round_at_a_time_in_a_process(destination, told):
    begun, go_on = threading.Event(), threading.Event()

    def meanwhile(_):
        begun.set()
        go_on.wait(10)

    made = []

    def first():
        made.append(send_due())
        connection.close()

    with http_receiver(meanwhile=meanwhile) as (url, _):
        destination(url)
        told()
        thread = threading.Thread(target=first)
        thread.start()
        assert begun.wait(10)
        assert send_due() == 0
        go_on.set()
        thread.join()
    assert made == [1]


def test_nothing_is_sent_for_a_closed_tenant_or_a_destination_that_is_off(
    destination, told, tenant
):
    with http_receiver() as (url, requests):
        destination(url)
        told()
        Destination.objects.update(enabled=False)
        assert send_due() == 0
        Destination.objects.update(enabled=True)
        type(tenant).objects.update(state=CLOSED)
        assert send_due() == 0
    assert requests == []


# -- killed -------------------------------------------------------------------------------------
SENDER = """
import django
django.setup()
from controlplane.notifications.sending import send_due
send_due()
"""


def database_url():
    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{values['NAME']}"
    return f"postgres://{values['USER']}@{values['HOST']}:{values['PORT']}/{values['NAME']}"


def sender():
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "DATABASE_URL": database_url(),
        "PENSTOCK_EGRESS_ALLOWED": "127.0.0.0/8",
        "PENSTOCK_DATA_DIR": str(configured.DATA_DIR),
    }
    return subprocess.Popen([sys.executable, "-c", SENDER], env=environment)


def test_a_sender_killed_between_sending_and_writing_it_down_sends_again_and_says_so(
    destination, told
):
    process = []

    def kill(_):
        if len(requests) == 1:
            os.kill(process[0].pid, signal.SIGKILL)
            process[0].wait()

    with http_receiver(meanwhile=kill) as (url, requests):
        destination(url)
        told()
        told(event_id="ev_2", state="resolved")
        process.append(sender())
        assert process[0].wait(60) == -signal.SIGKILL
        row = Delivery.objects.get(event_id="ev_1")
        assert (row.state, row.attempts) == ("pending", 1)
        assert send_due() == 0, "its lease lasts, and the end waits for the beginning"
        Delivery.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
        assert send_due() == 2
    marks = [(r.headers["Penstock-Delivery"], r.headers["Penstock-Attempt"]) for r in requests]
    assert marks[:2] == [(row.pk, "1"), (row.pk, "2")]
    assert [state for _, state in states(requests)] == ["firing", "firing", "resolved"]
    assert len({r.body for r in requests[:2]}) == 1
    assert set(Delivery.objects.values_list("state", flat=True)) == {"sent"}


def test_beat_asks_for_what_celery_knows(destination, told):
    app.loader.import_default_modules()
    asked = {
        row["task"]
        for row in configured.CELERY_BEAT_SCHEDULE.values()
        if row["task"].startswith("notifications.")
    }
    assert asked == {name for name in app.tasks if name.startswith("notifications.")}
    with http_receiver() as (url, requests):
        destination(url)
        told()
        assert app.tasks["notifications.send_due"].apply().get() == 1
    assert len(requests) == 1
    assert app.tasks["notifications.tidy"].apply().get() == 0


# -- tidying ------------------------------------------------------------------------------------
def test_what_has_ended_is_forgotten_after_a_month_in_batches(destination, told, monkeypatch):
    monkeypatch.setattr(services, "DELETE_BATCH", 2)
    monkeypatch.setattr(services, "BATCHES_MAX", 2)
    destination()
    for n in range(7):
        told(event_id=f"ev_{n}", alert_id=f"al_{n}")
    now = timezone.now()
    Delivery.objects.exclude(event_id="ev_6").update(
        state="sent", ended_at=now - timedelta(days=31)
    )
    Delivery.objects.filter(event_id="ev_5").update(ended_at=now - timedelta(days=29))
    assert (tidy(), tidy(), tidy()) == (4, 1, 0)
    assert set(Delivery.objects.values_list("event_id", flat=True)) == {"ev_5", "ev_6"}


def test_what_waits_for_too_long_is_dead(destination, told):
    destination()
    told()
    told(event_id="ev_2", alert_id="al_2")
    Destination.objects.update(enabled=False)
    Delivery.objects.filter(event_id="ev_1").update(
        queued_at=timezone.now() - timedelta(hours=24, seconds=1)
    )
    tidy()
    found = dict(Delivery.objects.values_list("event_id", "error_code"))
    assert found == {"ev_1": "too-old", "ev_2": ""}
    assert Delivery.objects.get(event_id="ev_1").state == "dead"


def test_no_thread_keeps_a_connection_to_the_database(destination, told):
    """The pool's threads never ask it: what they would open nobody closes."""
    opened = []

    def note(_):
        opened.append(threading.current_thread().name)

    with http_receiver(meanwhile=note) as (url, _):
        destination(url)
        told()
        send_due()
    assert opened
    assert not [t for t in threading.enumerate() if t.name.startswith("deliver")]
