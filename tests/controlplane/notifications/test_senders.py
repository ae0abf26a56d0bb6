"""One attempt over real sockets: every answer that there may be, every address that may not be."""

import email.policy
import logging
import socket
import ssl
import time
import warnings

import pytest

from controlplane.gateway import egress
from controlplane.gateway.egress import PUBLIC_ONLY, policy_of
from controlplane.notifications import http_sender, mail_sender
from controlplane.notifications.kinds.message import HttpRequest, Mail
from tests.certificates import Authority
from tests.controlplane.gateway.peers import serving, silent
from tests.controlplane.notifications.events import AT
from tests.controlplane.notifications.receivers import free_port, http_receiver, smtp_receiver

LOOPBACK = policy_of(["127.0.0.0/8"])
FOR_EVER_S = 8.0
"""Who drips goes on for longer than this, and a sender's own deadline is longer."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"), "authority")


def posted(url, policy=LOOPBACK, ca_pem=""):
    headers = (("Content-Type", "application/json"), ("Penstock-Attempt", "1"))
    request = HttpRequest(url=url, headers=headers, body=b'{"a":1}', ca_pem=ca_pem)
    return http_sender.send(request, policy, AT)


def test_a_request_is_what_was_rendered():
    with http_receiver() as (url, requests):
        outcome = posted(f"{url}/a%20b?c=d")
    assert (outcome.is_delivered, outcome.code, outcome.status) == (True, "delivered", 204)
    (request,) = requests
    assert (request.path, request.body) == ("/hook/a%20b?c=d", b'{"a":1}')
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Penstock-Attempt"] == "1"
    assert request.headers["Connection"] == "close"
    assert f"http://{request.headers['Host']}/hook" == url


def test_over_tls_the_certificate_is_checked(authority, tmp_path):
    pem = authority.file.read_text()
    with http_receiver(certificate=authority.issue("good")) as (url, requests):
        assert posted(url, ca_pem=pem).is_delivered
        refused = posted(url)  # of an authority that nobody named
        assert (refused.is_delivered, refused.code) == (False, "tls-certificate")
        other = Authority(tmp_path, "stranger").file.read_text()
        assert posted(url, ca_pem=other).code == "tls-certificate"
        assert posted(url.replace("https", "http"), ca_pem=pem).code in {
            "connection-lost",
            "no-http",
        }
    assert len(requests) == 1
    for certificate in (
        authority.issue("elsewhere", host="hooks.example.org"),
        authority.issue("ended", ends_in_h=-1),
    ):
        with http_receiver(certificate=certificate) as (url, requests):
            refused = posted(url, ca_pem=pem)
        assert (refused.code, refused.is_retriable) == ("tls-certificate", True)
        assert requests == []
    with http_receiver() as (url, requests):
        assert posted(url.replace("http", "https"), ca_pem=pem).code == "tls-failed"


def test_old_tls_is_refused(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.issue("old"))
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore"):  # Python says that it is old, too
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1

    def old(connection):
        context.wrap_socket(connection, server_side=True)

    with serving(old) as address:
        outcome = posted(f"https://{address}/", ca_pem=authority.file.read_text())
    assert not outcome.is_delivered
    assert outcome.code.startswith(("tls-", "connection"))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(status):
    with (
        http_receiver() as (inner, asked),
        http_receiver([(status, {"Location": inner})]) as (url, requests),
    ):
        outcome = posted(url)
    assert (outcome.code, outcome.is_retriable) == ("redirected", False)
    assert (len(requests), asked) == (1, [])


def test_no_proxy_of_the_environment_is_asked(monkeypatch):
    with http_receiver() as (proxy, asked), http_receiver() as (url, requests):
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy)
        assert posted(url).is_delivered
    assert (len(requests), asked) == (1, [])


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_this_machine_is_not_sent_to_unless_allowed(host):
    with http_receiver() as (url, requests):
        outcome = posted(url.replace("127.0.0.1", host), PUBLIC_ONLY)
    assert (outcome.code, outcome.is_retriable) == ("egress-refused", False)
    assert requests == []


@pytest.mark.parametrize("address", ["10.0.0.1", "192.168.1.1", "169.254.169.254", "[fe80::1]"])
def test_private_and_link_local_addresses_are_refused(address):
    assert posted(f"http://{address}/", LOOPBACK).code == "egress-refused"


def test_a_name_that_answers_otherwise_the_second_time_is_asked_once(monkeypatch):
    with http_receiver() as (url, requests):
        port = int(url.split(":")[2].split("/")[0])
        asked = []

        def rebinding(host, port, *_, **__):
            asked.append(host)
            address = "127.0.0.1" if len(asked) == 1 else "169.254.169.254"
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

        monkeypatch.setattr(egress.socket, "getaddrinfo", rebinding)
        assert posted(f"http://rebinding.example:{port}/hook").is_delivered
        assert asked == ["rebinding.example"]
        # The other way round: what was private to the check is never connected to.
        assert posted(f"http://rebinding.example:{port}/hook").code == "egress-refused"
    assert len(requests) == 1
    assert requests[0].headers["Host"] == f"rebinding.example:{port}"


def test_one_that_is_down_is_tried_again():
    outcome = posted(f"http://127.0.0.1:{free_port()}/")
    assert (outcome.code, outcome.is_retriable) == ("connect-refused", True)
    outcome = posted("http://no-such-host.invalid/")
    assert (outcome.code, outcome.is_retriable) == ("dns-failed", True)


def drip(head):
    """One byte in 20 ms, for ever."""

    def handle(connection):
        connection.recv(65536)
        connection.sendall(head)
        while True:
            connection.sendall(b"x")
            time.sleep(0.02)

    return handle


@pytest.mark.parametrize(
    ("handle", "code"),
    [
        (silent, "timed-out"),
        (drip(b"HTTP/1.1 "), "timed-out"),
        (drip(b"HTTP/1.1 200 OK\r\nX: "), "timed-out"),
    ],
    ids=["silent", "status", "header"],
)
def test_who_drips_is_left_at_the_deadline(monkeypatch, handle, code):
    monkeypatch.setattr(http_sender, "TIMEOUT_S", 0.6)
    began_s = time.monotonic()
    with serving(handle) as address:
        outcome = posted(f"http://{address}/")
    assert (outcome.code, outcome.is_retriable) == (code, True)
    assert time.monotonic() - began_s < FOR_EVER_S


def test_a_handshake_that_hangs_is_left_at_the_deadline(monkeypatch):
    monkeypatch.setattr(http_sender, "TIMEOUT_S", 0.6)
    began_s = time.monotonic()
    with serving(silent) as address:
        outcome = posted(f"https://{address}/")
    assert outcome.code == "timed-out"
    assert time.monotonic() - began_s < FOR_EVER_S


def test_a_body_that_drips_changes_nothing(monkeypatch):
    monkeypatch.setattr(http_sender, "BODY_S", 0.3)
    began_s = time.monotonic()
    with serving(drip(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n")) as address:
        outcome = posted(f"http://{address}/")
    assert outcome.is_delivered
    assert time.monotonic() - began_s < FOR_EVER_S


def flood(head, sent):
    def handle(connection):
        connection.recv(65536)
        connection.sendall(head)
        while True:
            sent[0] += connection.send(b"x" * 65536)

    return handle


def test_a_huge_answer_is_left():
    sent = [0]
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n"
    with serving(flood(head, sent)) as address:
        assert posted(f"http://{address}/").is_delivered
    assert sent[0] < 32 * 1024 * 1024, "what the kernel's buffers hold, and no more"


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9\r\n",
        b"HTTP/9.9 two hundred\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
        b"\x00" * 100,
        b"HTTP/1.1 200 OK\r\n" + b"X-Header: y\r\n" * 5_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"",
    ],
)
def test_what_is_no_answer_is_a_failure_without_its_words(answer):
    def handle(connection):
        connection.recv(65536)
        connection.sendall(answer)

    with serving(handle) as address:
        outcome = posted(f"http://{address}/secret-path")
    assert not outcome.is_delivered
    assert outcome.is_retriable
    assert "SSH" not in outcome.text
    assert "secret-path" not in outcome.text


def test_continue_without_end_is_left_at_the_deadline(monkeypatch):
    monkeypatch.setattr(http_sender, "TIMEOUT_S", 0.5)

    def handle(connection):
        connection.recv(65536)
        while True:
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

    with serving(handle) as address:
        assert posted(f"http://{address}/").code == "timed-out"


def test_what_a_receiver_asks_for_is_read():
    answers = [
        (429, {"Retry-After": "77"}),
        (503, {"Retry-After": "Wed, 04 Mar 2026 05:07:07 GMT"}),
    ]
    with http_receiver(answers) as (url, _):
        first, second = posted(url), posted(url)
    assert (first.retry_after_s, first.is_retriable) == (77, True)
    assert second.retry_after_s == pytest.approx(59.11)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/a b",
        "http://127.0.0.1:1/a\r\nX: 1",
        "http://127.0.0.1:99999/",
        "http://[::1/",
        "ftp://127.0.0.1/",
        "http:///x",
        "http://127.0.0.1:1/é",
        "",
    ],
)
def test_what_is_no_address_is_refused_for_good(url):
    outcome = posted(url)
    assert not outcome.is_delivered
    assert outcome.code in {"bad-address", "connect-refused", "dns-failed", "no-http"}


# -- mail ---------------------------------------------------------------------------------------
MAIL = Mail(
    to=("a@example.org", "b@example.org"),
    subject="[Penstock] CRITICAL firing: Grüße",
    text="Grüße λ\n.\nend",
    html="<p>Grüße λ</p>",
    headers=(("Penstock-Delivery", "nd_1"), ("Penstock-Attempt", "1")),
    message_id="nd_1",
    thread_id="al_1",
)


@pytest.fixture
def site(settings):
    """Sets the site's mail server."""

    def use(port, security="none"):
        settings.SMTP_HOST, settings.SMTP_PORT = "127.0.0.1", port
        settings.SMTP_SECURITY = security
        settings.MAIL_FROM = "Penstock <alerts@example.org>"

    return use


def test_a_mail_arrives(site):
    with smtp_receiver() as (port, messages):
        site(port)
        assert mail_sender.send(MAIL).is_delivered
    ((to, raw),) = messages
    assert to == ("a@example.org", "b@example.org")
    read = email.message_from_bytes(raw, policy=email.policy.default)
    assert read["Subject"] == "[Penstock] CRITICAL firing: Grüße"
    assert read["From"] == "Penstock <alerts@example.org>"
    assert read["Penstock-Delivery"] == "nd_1"
    assert "Grüße λ" in read.get_body(("plain",)).get_content()
    assert "<p>Grüße λ</p>" in read.get_body(("html",)).get_content()


def test_starttls_checks_the_certificate(site, authority, monkeypatch, tmp_path):
    with smtp_receiver(certificate=authority.issue("mail")) as (port, messages):
        site(port, "starttls")
        refused = mail_sender.send(MAIL)
        assert refused.code == "tls-certificate"
        assert messages == []
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        assert mail_sender.send(MAIL).is_delivered
    assert len(messages) == 1


def test_no_mail_goes_out_in_the_clear_where_tls_is_wanted(site):
    with smtp_receiver() as (port, messages):
        site(port, "starttls")
        assert not mail_sender.send(MAIL).is_delivered
    assert messages == []


@pytest.mark.parametrize(
    ("answers", "code", "retriable"),
    [
        ({"RCPT": "550 no such user"}, "smtp-550", False),
        ({"RCPT": "451 later"}, "smtp-451", True),
        ({"DATA": "554 spam"}, "smtp-554", False),
        ({"MAIL": "421 too many"}, "smtp-421", True),
        ({"EHLO": "nonsense", "HELO": "nonsense"}, "smtp-away", True),
    ],
)
def test_refusals_of_the_mail_server(site, answers, code, retriable):
    with smtp_receiver(answers) as (port, messages):
        site(port)
        outcome = mail_sender.send(MAIL)
    assert not outcome.is_delivered
    assert (outcome.code, outcome.is_retriable) == (code, retriable)
    assert "spam" not in outcome.text
    assert messages == []


def drip_mail(connection):
    connection.sendall(b"220 test\r\n")
    connection.recv(65536)
    while True:
        connection.sendall(b"2")
        time.sleep(0.02)


@pytest.mark.parametrize("security", ["none", "tls"])
def test_a_mail_server_that_drips_is_left_at_the_deadline(site, monkeypatch, security):
    monkeypatch.setattr(mail_sender, "MAIL_S", 0.5)
    monkeypatch.setattr(mail_sender, "TIMEOUT_S", 1)
    began_s = time.monotonic()
    with serving(drip_mail if security == "none" else silent) as address:
        site(int(address.rpartition(":")[2]), security)
        outcome = mail_sender.send(MAIL)
    assert (outcome.code, outcome.is_retriable) == ("smtp-away", True)
    assert time.monotonic() - began_s < FOR_EVER_S


def test_a_mail_server_that_is_down_is_tried_again(site):
    site(free_port())
    outcome = mail_sender.send(MAIL)
    assert (outcome.code, outcome.is_retriable) == ("smtp-away", True)


def test_without_a_server_there_is_no_mail(settings):
    settings.SMTP_HOST = ""
    outcome = mail_sender.send(MAIL)
    assert (outcome.code, outcome.is_retriable) == ("no-mail-server", False)


def test_nothing_is_logged_of_address_or_answer(caplog):
    caplog.set_level(logging.DEBUG)
    with http_receiver([(500, {"X-Said": "said"}, b"said")]) as (url, _):
        posted(f"{url}/s3cret")
    assert "s3cret" not in caplog.text
    assert "said" not in caplog.text
