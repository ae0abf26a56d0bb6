"""Destinations and deliveries by REST: what may be given, what is shown, what never is."""

import json
import logging
import threading
from datetime import timedelta

import pytest
from django.db import connection, models
from django.utils import timezone

from controlplane.audit.models import AuditEvent
from controlplane.common.crypto import unseal
from controlplane.notifications import services
from controlplane.notifications.models import Delivery, Destination
from controlplane.notifications.sending import send_due
from tests.certificates import Authority
from tests.controlplane.notifications.receivers import free_port, http_receiver, smtp_receiver
from tests.controlplane.rest.surface import problem
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db(transaction=True)
API = "/api/v1"
SECRET = "whole-secret-of-the-webhook"
WEBHOOK = {
    "name": "hook",
    "kind": "webhook",
    "config": {"url": "https://hooks.example.org/p"},
    "secrets": {"signing_secret": SECRET},
}
PAGERDUTY = {"name": "pd", "kind": "pagerduty", "secrets": {"routing_key": "k" * 32}}
SLACK = {
    "name": "slack",
    "kind": "slack",
    "secrets": {"url": "https://hooks.slack.com/services/T/B/secretpart"},
}
ALERTMANAGER = {
    "name": "am",
    "kind": "alertmanager",
    "config": {"url": "http://alerts.example.org:9093"},
    "secrets": {"authorization": "Bearer secrettoken"},
}
EMAIL = {"name": "mail", "kind": "email", "config": {"to": ["ops@example.org"]}}


@pytest.fixture
def client(tenant):
    return client_for(tenant, "operator")


@pytest.fixture
def mail_site(settings):
    settings.SMTP_HOST, settings.MAIL_FROM = "127.0.0.1", "alerts@example.org"


def ask(client, method, path, body=None, **headers):
    return client.generic(
        method.upper(),
        f"{API}{path}",
        "" if body is None else json.dumps(body),
        content_type="application/json",
        headers=headers,
    )


def made(client, body):
    answer = ask(client, "post", "/destinations", body)
    assert answer.status_code == 201, answer.content
    return answer.json()


WHOLE = ("name", "enabled", "min_severity", "rules", "clusters", "send_resolved")


def change(client, found, body, **headers):
    whole = {name: found[name] for name in WHOLE}
    return ask(client, "put", f"/destinations/{found['id']}", {**whole, **body}, **headers)


@pytest.mark.usefixtures("mail_site")
@pytest.mark.parametrize("body", [WEBHOOK, PAGERDUTY, SLACK, ALERTMANAGER, EMAIL])
def test_each_kind_is_made_changed_and_deleted(client, body):
    found = made(client, body)
    assert found["has_secrets"] is ("secrets" in body)
    assert (found["enabled"], found["min_severity"], found["send_resolved"]) == (
        True,
        "warning",
        True,
    )
    path = f"/destinations/{found['id']}"
    assert ask(client, "get", path).json() == found
    assert ask(client, "get", "/destinations").json()["data"] == [found]
    changed = change(client, found, {"min_severity": "critical", "enabled": False})
    assert changed.status_code == 200
    assert (changed.json()["min_severity"], changed.json()["enabled"]) == ("critical", False)
    assert changed.json()["config"] == found["config"]
    problem(change(client, found, {"enabled": True}, **{"If-Match": found["etag"]}), 412)
    assert ask(client, "delete", path).status_code == 204
    problem(ask(client, "get", path), 404)
    actions = list(AuditEvent.objects.exclude(outcome="refused").values_list("action", flat=True))
    assert actions == ["destination.create", "destination.update", "destination.delete"]


@pytest.mark.usefixtures("mail_site")
@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({**WEBHOOK, "config": {}}, "/config/url"),
        ({**WEBHOOK, "secrets": {}}, "/secrets/signing_secret"),
        ({**WEBHOOK, "secrets": {"signing_secret": "short"}}, "/secrets/signing_secret"),
        ({**WEBHOOK, "secrets": {"signing_secret": "é" * 30}}, "/secrets/signing_secret"),
        ({**WEBHOOK, "secrets": {"signing_secret": "a" * 30 + "\n"}}, "/secrets/signing_secret"),
        (
            {**WEBHOOK, "secrets": {**WEBHOOK["secrets"], "routing_key": "x"}},
            "/secrets/routing_key",
        ),
        ({**WEBHOOK, "config": {**WEBHOOK["config"], "to": ["a@b.example"]}}, "/config/to"),
        ({**WEBHOOK, "config": {**WEBHOOK["config"], "ca_pem": "x"}}, "/config/ca_pem"),
        ({**WEBHOOK, "kind": "carrier-pigeon"}, "/kind"),
        ({**WEBHOOK, "min_severity": "fatal"}, "/min_severity"),
        ({**WEBHOOK, "rules": ["a b"]}, "/rules/0"),
        ({**WEBHOOK, "clusters": ["kc/none"]}, "/clusters/0"),
        ({**WEBHOOK, "more": 1}, "/more"),
        ({**SLACK, "config": {"url": "https://hooks.example.org/"}}, "/config/url"),
        ({**SLACK, "secrets": {"url": "http://hooks.slack.com/x"}}, "/secrets/url"),
        ({**PAGERDUTY, "config": {"url": "http://events.example.org/"}}, "/config/url"),
        ({**PAGERDUTY, "secrets": {"routing_key": "a\r\nb"}}, "/secrets/routing_key"),
        ({**ALERTMANAGER, "secrets": {"authorization": "a\r\nX: 1"}}, "/secrets/authorization"),
        ({**EMAIL, "config": {}}, "/config/to"),
        ({**EMAIL, "config": {"to": []}}, "/config/to"),
        ({**EMAIL, "config": {"to": ["a@b.example\r\nBcc: c@d.example"]}}, "/config/to/0"),
        ({**EMAIL, "config": {"to": ["a@b.example,c@d.example"]}}, "/config/to/0"),
        ({**EMAIL, "config": {"to": ["A@b.example", "a@b.example"]}}, "/config/to"),
        ({**EMAIL, "config": {"to": ["nobody"]}}, "/config/to/0"),
        ({**EMAIL, "config": {"to": [f"a{n}@b.example" for n in range(21)]}}, "/config/to"),
    ],
)
def test_what_cannot_be_is_refused_with_the_field(client, body, pointer):
    refused = problem(ask(client, "post", "/destinations", body), 422)
    assert pointer in [row["pointer"] for row in refused["errors"]]
    assert not Destination.objects.exists()
    for secret in body.get("secrets", {}).values():
        assert len(secret) < 5 or secret not in json.dumps(refused)


@pytest.mark.parametrize(
    "url",
    [
        "https://user:password@hooks.example.org/",
        "https://hooks.example.org/#part",
        "https:///path",
        "https://hooks.example.org:0/",
        "https://hooks.example.org:99999/",
        "https://hooks.example.org/a b",
        "https://hooks.example.org/\r\nX: 1",
        "https://hooks.example.org/é",
        "https://höoks.example.org/",
        "https://[::1",
        "file:///etc/passwd",
        "gopher://hooks.example.org/",
        "javascript:alert(1)",
        "//hooks.example.org/",
        "https://hooks.example.org\\@evil.example/",
        "https://127.0.0.1/",
        "https://[::ffff:169.254.169.254]/",
        "https://10.1.2.3/",
        "https://hooks.example.org/" + "a" * 2_000,
    ],
)
def test_addresses_that_nobody_sends_to(client, url):
    body = {**WEBHOOK, "config": {"url": url}}
    refused = problem(ask(client, "post", "/destinations", body), 422)
    assert refused["errors"][0]["pointer"] == "/config/url"


def test_mail_needs_a_server_and_goes_to_allowed_domains(client, settings):
    assert problem(ask(client, "post", "/destinations", EMAIL), 409)["code"] == "no-mail-server"
    settings.SMTP_HOST, settings.MAIL_FROM = "127.0.0.1", "alerts@example.org"
    settings.MAIL_DOMAINS = ["example.com"]
    refused = problem(ask(client, "post", "/destinations", EMAIL), 422)
    assert refused["errors"][0]["code"] == "not-allowed"
    settings.MAIL_DOMAINS = ["example.org"]
    made(client, EMAIL)


def test_names_are_once_and_destinations_are_so_many(client, monkeypatch):
    found = made(client, WEBHOOK)
    other = made(client, PAGERDUTY)
    assert problem(ask(client, "post", "/destinations", WEBHOOK), 409)["code"] == "name-taken"
    assert problem(change(client, other, {"name": "hook"}), 409)["code"] == "name-taken"
    assert change(client, found, {"name": "hook"}).status_code == 200
    monkeypatch.setattr(services, "DESTINATIONS_MAX", 2)
    assert problem(ask(client, "post", "/destinations", SLACK), 409)["code"] == "too-many"


@pytest.mark.parametrize("body", [PAGERDUTY, ALERTMANAGER])
def test_nobody_has_a_secret_sent_elsewhere_by_changing_the_address(client, body, tmp_path):
    found = made(client, body)
    elsewhere = {"config": {"url": "https://mine.example.org/"}}
    refused = problem(change(client, found, elsewhere), 422)
    assert refused["errors"][0]["pointer"] == "/secrets"
    authority = Authority(tmp_path, "mine").file.read_text()
    here = {"config": {**body.get("config", {}), "ca_pem": authority}}
    assert problem(change(client, found, here), 422)["errors"][0]["pointer"] == "/secrets"
    again = {**elsewhere, "secrets": body["secrets"]}
    assert change(client, found, again).status_code == 200
    assert change(client, found, {"enabled": False}).status_code == 200


def test_the_secret_of_a_webhook_is_changed_without_a_gap(client, settings):
    settings.EGRESS_ALLOWED = ["127.0.0.0/8"]

    def signatures():
        answer = ask(client, "post", f"/destinations/{found['id']}/test")
        assert answer.json()["delivered"], answer.content
        return requests[-1].headers["Penstock-Signature"].count("v1=")

    with http_receiver() as (url, requests):
        found = made(client, {**WEBHOOK, "config": {"url": url}})
        assert signatures() == 1
        changed = change(client, found, {"secrets": {"signing_secret": "n" * 24}}).json()
        assert changed["rotation_ends_at"] is not None
        assert signatures() == 2
        # The same one again begins nothing anew.
        change(client, found, {"secrets": {"signing_secret": "n" * 24}})
        row = Destination.objects.get()
        assert unseal(row.secrets_token) == {
            "signing_secret": "n" * 24,
            "previous_signing_secret": SECRET,
        }
        Destination.objects.update(rotation_ends_at=timezone.now() - timedelta(seconds=1))
        assert signatures() == 1
        services.tidy()
        row.refresh_from_db()
        assert unseal(row.secrets_token) == {"signing_secret": "n" * 24}


# -- a test -------------------------------------------------------------------------------------
@pytest.mark.usefixtures("loopback")
def test_the_test_button_says_how_it_ended(client):
    with http_receiver([200, 404]) as (url, requests):
        found = made(client, {**WEBHOOK, "config": {"url": url}})
        path = f"/destinations/{found['id']}/test"
        good, bad = (ask(client, "post", path).json() for _ in range(2))
    assert (good["delivered"], good["code"], good["status"]) == (True, "delivered", 200)
    assert (bad["delivered"], bad["code"], bad["status"]) == (False, "http-404", 404)
    assert json.loads(requests[0].body)["event"]["rule"] == "test"
    assert ask(client, "post", path).json()["code"] == "connect-refused"
    assert not Delivery.objects.exists()
    codes = AuditEvent.objects.filter(action="destination.test").order_by("pk")
    assert [row.data["code"] for row in codes] == ["delivered", "http-404", "connect-refused"]


@pytest.mark.usefixtures("loopback")
def test_a_test_leaves_no_incident_open(client, tmp_path):
    authority = Authority(tmp_path, "authority")
    config = {"ca_pem": authority.file.read_text()}
    with http_receiver([202], certificate=authority.issue("pd")) as (url, requests):
        found = made(client, {**PAGERDUTY, "config": {**config, "url": url}})
        assert ask(client, "post", f"/destinations/{found['id']}/test").json()["delivered"]
    sent = [json.loads(request.body) for request in requests]
    assert [each["event_action"] for each in sent] == ["trigger", "resolve"]
    assert len({each["dedup_key"] for each in sent}) == 1


@pytest.mark.usefixtures("loopback")
def test_a_mail_is_tested(client, settings):
    with smtp_receiver() as (port, messages):
        settings.SMTP_HOST, settings.SMTP_PORT = "127.0.0.1", port
        settings.SMTP_SECURITY, settings.MAIL_FROM = "none", "alerts@example.org"
        found = made(client, EMAIL)
        assert ask(client, "post", f"/destinations/{found['id']}/test").json()["delivered"]
    assert len(messages) == 1


def test_secrets_that_no_key_opens_are_given_again(client):
    found = made(client, WEBHOOK)
    Destination.objects.update(secrets_token="gAAAAA" + "A" * 100)
    answer = ask(client, "post", f"/destinations/{found['id']}/test")
    assert (answer.status_code, answer.json()["code"]) == (200, "secrets")
    assert change(client, found, {"enabled": False}).status_code == 200
    elsewhere = {"config": {"url": "https://hooks.example.org/other"}}
    refused = problem(change(client, found, elsewhere), 422)
    assert refused["errors"][0]["pointer"] == "/secrets/signing_secret"
    assert change(client, found, {"secrets": WEBHOOK["secrets"]}).status_code == 200
    assert unseal(Destination.objects.get().secrets_token) == WEBHOOK["secrets"]


def test_tests_have_a_rate(client, settings):
    # A window of a minute would often end in the middle of this.
    settings.RATE_LIMITS = {"destination_tests": "2/hour"}
    found = made(client, {**WEBHOOK, "config": {"url": f"https://1.1.1.1:{free_port()}/"}})
    settings.EGRESS_ALLOWED = []
    Destination.objects.update(config={"url": "https://127.0.0.1/"})
    path = f"/destinations/{found['id']}/test"
    assert [ask(client, "post", path).json()["code"] for _ in range(2)] == ["egress-refused"] * 2
    refused = ask(client, "post", path)
    assert problem(refused, 429)["code"] == "too-many-requests"
    assert int(refused["Retry-After"]) > 0


def test_so_many_tests_wait_for_strangers_at_a_time(client, monkeypatch):
    found = made(client, WEBHOOK)
    monkeypatch.setattr(services, "TESTS", threading.BoundedSemaphore(0))
    problem(ask(client, "post", f"/destinations/{found['id']}/test"), 429)


# -- deliveries ---------------------------------------------------------------------------------
@pytest.mark.usefixtures("loopback")
def test_dead_letters_are_listed_and_sent_again(client, told):
    with http_receiver([404, 204]) as (url, requests):
        found = made(client, {**WEBHOOK, "config": {"url": url}})
        told()
        send_due()
        (dead,) = ask(client, "get", "/deliveries?state=dead").json()["data"]
        assert (dead["error_code"], dead["status"], dead["attempts"]) == ("http-404", 404, 1)
        assert dead["destination_id"] == found["id"]
        path = f"/deliveries/{dead['id']}"
        one = ask(client, "get", path).json()
        assert one["event"]["labels"]["group"] == "billing"
        again = ask(client, "post", f"{path}/resend")
        assert (again.status_code, again.json()["state"]) == (200, "pending")
        send_due()
    sent = ask(client, "get", path).json()
    assert (sent["state"], sent["attempts"]) == ("sent", 2)
    assert [r.headers["Penstock-Attempt"] for r in requests] == ["1", "2"]
    refused = problem(ask(client, "post", f"{path}/resend"), 409)
    assert refused["code"] == "not-dead"
    assert ask(client, "get", "/deliveries?state=dead").json()["data"] == []
    assert AuditEvent.objects.filter(action="delivery.resend").count() == 1


@pytest.mark.usefixtures("loopback")
def test_older_news_is_not_sent_after_newer(client, told):
    with http_receiver([404, 204]) as (url, _):
        made(client, {**WEBHOOK, "config": {"url": url}})
        told()
        told(event_id="ev_2", state="resolved")
        send_due()
    (dead,) = ask(client, "get", "/deliveries?state=dead").json()["data"]
    refused = problem(ask(client, "post", f"/deliveries/{dead['id']}/resend"), 409)
    assert refused["code"] == "superseded"


def test_deliveries_are_filtered(client, destination, told):
    destination()
    other = destination(min_severity="info")
    told()
    told(event_id="ev_2", alert_id="al_2", severity="info")

    def found(query):
        rows = ask(client, "get", f"/deliveries{query}").json()["data"]
        return sorted((row["event_id"], row["destination_name"]) for row in rows)

    assert found("") == [("ev_1", "d0"), ("ev_1", "d1"), ("ev_2", "d1")]
    assert found(f"?destination_id={other.pk}") == [("ev_1", "d1"), ("ev_2", "d1")]
    assert found("?alert_id=al_2") == found("?severity=info") == [("ev_2", "d1")]
    assert found("?state=sent") == []
    problem(ask(client, "get", "/deliveries?state=lost"), 422)
    problem(ask(client, "get", "/deliveries?kind=webhook"), 422)
    page = ask(client, "get", "/deliveries?page_size=2").json()
    rest = ask(client, "get", f"/deliveries?cursor={page['page']['next']}").json()
    assert (len(page["data"]), len(rest["data"])) == (2, 1)


# -- who may not --------------------------------------------------------------------------------
def test_another_tenant_finds_nothing(client, tenant, destination, told):
    mine = destination()
    told()
    delivery = Delivery.objects.get()
    rival_tenant = tenant_make("rival")
    rival = client_for(rival_tenant)
    for method, path in (
        ("get", f"/destinations/{mine.pk}"),
        ("put", f"/destinations/{mine.pk}"),
        ("delete", f"/destinations/{mine.pk}"),
        ("post", f"/destinations/{mine.pk}/test"),
        ("get", f"/deliveries/{delivery.pk}"),
        ("post", f"/deliveries/{delivery.pk}/resend"),
    ):
        problem(ask(rival, method, path, {} if method == "put" else None), 404)
    for path in ("/destinations", "/deliveries", f"/deliveries?destination_id={mine.pk}"):
        assert ask(rival, "get", path).json()["data"] == []
    cluster = cluster_make(tenant)
    refusals = [
        problem(ask(rival, "post", "/destinations", {**WEBHOOK, "clusters": [each]}), 404)["detail"]
        for each in (cluster.pk, "kc_none")
    ]
    assert refusals[0] == refusals[1]
    made(client, {**WEBHOOK, "name": "own", "clusters": [cluster.pk]})
    assert Destination.objects.filter(tenant=tenant).count() == 2
    assert not Destination.objects.filter(tenant=rival_tenant).exists()


@pytest.mark.usefixtures("loopback", "mail_site")
def test_no_secret_is_in_any_answer_log_or_row(client, caplog, told, settings, tmp_path):
    caplog.set_level(logging.DEBUG)
    secrets = [SECRET, "k" * 32, "secretpart", "secrettoken", "n" * 24, "password-of-the-site"]
    settings.SMTP_PASSWORD = secrets[-1]
    authority = Authority(tmp_path, "authority")
    answers = []

    def asked(*request):
        answers.append(ask(client, *request).content.decode())
        return json.loads(answers[-1] or "null")

    # A receiver that says all that it was told.
    said = [(500, {"X-Echo": SECRET}, ("secretpart secrettoken " + "k" * 32).encode())]
    with http_receiver(said, certificate=authority.issue("echo")) as (url, requests):
        for body in (WEBHOOK, PAGERDUTY, SLACK, ALERTMANAGER, EMAIL):
            sent = dict(body)
            if body is not EMAIL:
                sent["config"] = {"ca_pem": authority.file.read_text()}
            if body is SLACK:
                sent["secrets"] = {"url": f"{url}/secretpart"}
            elif body is not EMAIL:
                sent["config"]["url"] = url
            found = asked("post", "/destinations", sent)
            answers.append(change(client, found, {"send_resolved": False}).content.decode())
            asked("post", f"/destinations/{found['id']}/test")
        hook = asked("get", f"/destinations/{Destination.objects.get(kind='webhook').pk}")
        for secret in ("n" * 24, "short"):
            changed = change(client, hook, {"secrets": {"signing_secret": secret}})
            answers.append(changed.content.decode())
        told()
        send_due()
    for path in ("/destinations", "/deliveries", "/audit-events"):
        asked("get", path)
    for row in Delivery.objects.all():
        asked("get", f"/deliveries/{row.pk}")
    assert len(requests) == 8, "each of the four was tested and told"
    assert "secretpart" in requests[2].path
    assert Delivery.objects.filter(error_code="http-500").count() == 4
    assert len(answers) > 20
    for secret in secrets:
        for text in [*answers, caplog.text, *stored()]:
            assert secret not in text, secret


def stored():
    """Every row of the database, as text."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            yield repr(cursor.fetchall())


def test_what_is_sealed_is_a_sealed_field():
    """By its class re-sealing under another key finds it."""
    assert Destination._meta.get_field("secrets_token").__class__.__name__ == "SealedField"
    assert isinstance(Destination._meta.get_field("secrets_token"), models.TextField)
