"""Addresses by which a tenant would have the service reach what only the service can reach.

Every way to write one, when a destination is made and when it is used; names that mean an address
inside, wholly, in part, or the second time; and lines of names in headers.
"""

import json
import socket
import threading

import pytest

from controlplane.gateway import egress
from controlplane.gateway.egress import PUBLIC_ONLY
from controlplane.notifications import http_sender
from controlplane.notifications.kinds.message import HttpRequest, Stamp, Target
from controlplane.notifications.kinds.table import render
from controlplane.notifications.models import Delivery, Destination
from controlplane.notifications.sending import send_due
from tests.controlplane.notifications.events import AT, event
from tests.controlplane.notifications.receivers import http_receiver
from tests.controlplane.support import client_for

INSIDE_IN_DIGITS = [
    "127.0.0.1",
    "0.0.0.0",
    "10.255.255.255",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.192",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:a9fe:a9fe]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:7f00:1::]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
]
# What a C library takes for an address in digits, and Python's module of addresses does not.
INSIDE_TO_THE_SYSTEM = ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "localhost."]


def posted(url, policy=PUBLIC_ONLY):
    headers = (("Content-Type", "application/json"),)
    return http_sender.send(
        HttpRequest(url=url, headers=headers, body=b"{}", ca_pem=""), policy, AT
    )


@pytest.fixture
def no_connection(monkeypatch):
    """Whatever is connected to all the same, so that no test sends anything anywhere.

    A thread that was there before is another's, which looks for its Redis again, say.
    """
    tried, others = [], set(threading.enumerate()) - {threading.current_thread()}

    def connect(_self, address):
        if threading.current_thread() not in others:
            tried.append(address)
        raise OSError("not from a test")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect)
    return tried


def means(monkeypatch, *addresses):
    def found(_host, port, *_, **__):
        return [
            (
                socket.AF_INET6 if ":" in address else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (address, port),
            )
            for address in addresses
        ]

    monkeypatch.setattr(egress.socket, "getaddrinfo", found)


# -- when it is used ----------------------------------------------------------------------------
@pytest.mark.parametrize("host", [*INSIDE_IN_DIGITS, *INSIDE_TO_THE_SYSTEM])
@pytest.mark.parametrize("port", ["", ":22", ":6379", ":9092", ":65535"])
def test_nothing_inside_is_sent_to_whatever_it_is_written_as(no_connection, host, port):
    for scheme in ("http", "https"):
        outcome = posted(f"{scheme}://{host}{port}/")
        assert outcome.code in {"egress-refused", "dns-failed"}, (scheme, host, outcome)
    assert no_connection == []


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["::ffff:169.254.169.254"],
        ["64:ff9b::7f00:1"],
        ["93.184.216.34", "10.0.0.1"],
        ["10.0.0.1", "93.184.216.34"],
    ],
)
def test_a_name_that_means_something_inside_is_sent_nothing_there(
    monkeypatch, no_connection, addresses
):
    means(monkeypatch, *addresses)
    posted("https://inside.example.org/")
    assert {address[0] for address in no_connection} <= {"93.184.216.34"}


def test_a_login_before_the_host_leads_nowhere_else(no_connection):
    outcome = posted("http://hooks.example.org@127.0.0.1/")
    assert outcome.code == "egress-refused"
    assert no_connection == []


@pytest.mark.parametrize(
    "location", ["http://169.254.169.254/latest/", "/elsewhere", "file:///etc"]
)
def test_an_answer_leads_nowhere(location):
    answers = [(code, {"Location": location}) for code in (301, 302, 303, 307, 308)]
    with http_receiver(answers) as (url, requests):
        for _ in answers:
            assert not posted(url, egress.policy_of(["127.0.0.0/8"])).is_delivered
    assert len(requests) == len(answers)


# -- when it is made ----------------------------------------------------------------------------
def given(kind, url):
    return {
        "webhook": {"config": {"url": url}, "secrets": {"signing_secret": "s" * 24}},
        "slack": {"config": {}, "secrets": {"url": url}},
        "alertmanager": {"config": {"url": url}, "secrets": {}},
    }[kind]


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["webhook", "slack", "alertmanager"])
def test_no_destination_is_made_of_an_address_inside(tenant, kind):
    client = client_for(tenant, "operator")
    for host in INSIDE_IN_DIGITS:
        body = {"name": "x", "kind": kind, **given(kind, f"https://{host}/")}
        answer = client.post("/api/v1/destinations", body, format="json")
        assert answer.status_code == 422, (host, answer.content)
    assert not Destination.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("host", ["127.1", "2130706433", "localhost"])
def test_one_that_is_no_address_until_it_is_used_is_a_dead_letter(
    tenant, destination, told, no_connection, host
):
    destination(f"http://{host}:9/")
    told()
    send_due(entropy=lambda: 0.5)
    row = Delivery.objects.get()
    assert (row.state, row.error_code) == ("dead", "egress-refused")
    assert no_connection == []


@pytest.mark.django_db
def test_the_test_button_is_no_way_in(tenant, no_connection):
    client = client_for(tenant, "operator")
    body = {"name": "x", "kind": "webhook", **given("webhook", "http://127.1:6379/")}
    made = client.post("/api/v1/destinations", body, format="json")
    if made.status_code == 201:
        answer = client.post(
            f"/api/v1/destinations/{made.json()['id']}/test", {}, format="json"
        ).json()
        assert (answer["delivered"], answer["code"]) == (False, "egress-refused")
    assert no_connection == []


# -- what is sent -------------------------------------------------------------------------------
LINES = "x\r\nX-Injected: 1\r\n\r\nGET / HTTP/1.1\n\u2028\x00"
TARGETS = {
    "webhook": Target(
        config={"url": "https://hooks.example.org/"}, secrets={"signing_secret": "s" * 24}
    ),
    "slack": Target(config={}, secrets={"url": "https://hooks.example.org/"}),
    "pagerduty": Target(config={}, secrets={"routing_key": "k" * 32}),
    "alertmanager": Target(
        config={"url": "https://hooks.example.org/"}, secrets={"authorization": "Bearer t"}
    ),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_no_name_of_a_client_is_in_a_header(kind):
    told = event(
        summary=LINES,
        description=LINES,
        cluster_name=LINES,
        labels={"alertname": LINES, LINES: LINES, "group": LINES},
        values={"group": LINES, LINES: LINES},
    )
    made = render(kind, told, TARGETS[kind], Stamp(delivery_id="nd_1", attempt=1, sent_at=AT))
    for name, value in made.headers:
        assert "Injected" not in name + value
        assert not set("\r\n\x00") & set(name + value)
    json.loads(made.body)
