"""Which addresses are connected to, and that no second look at the name service decides."""

import ipaddress
import socket
import threading
import time

import pytest

from controlplane.gateway import egress
from controlplane.gateway.egress import (
    ANYWHERE,
    PUBLIC_ONLY,
    Deadline,
    checked_addresses,
    open_socket,
    policy_of,
)
from controlplane.gateway.egress_hook import CheckedSocket, proxy_url
from controlplane.gateway.errors import GatewayError

REFUSED = {
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "10.1.2.3": "private",
    "100.64.0.1": "carrier-grade NAT",
    "100.100.100.200": "carrier-grade NAT",
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "168.63.129.16": "cloud metadata",
    "169.254.169.254": "link-local",
    "172.31.255.255": "private",
    "192.0.0.192": "reserved",
    "192.168.1.1": "private",
    "198.19.0.1": "benchmarking",
    "203.0.113.9": "documentation",
    "224.0.0.1": "multicast",
    "255.255.255.255": "reserved",
    "::": "unspecified",
    "::1": "loopback",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:169.254.169.254": "link-local",
    "::127.0.0.1": "loopback",
    "64:ff9b::7f00:1": "loopback",
    "64:ff9b::a00:1": "private",
    "64:ff9b:1::1": "reserved",
    "2002:7f00:1::": "loopback",
    "2002:a9fe:a9fe::1": "link-local",
    "2001::1": "reserved",
    "2001:db8::1": "documentation",
    "100::1": "reserved",
    "fd00:ec2::254": "private",
    "fe80::1": "link-local",
    "fe80::1%2": "link-local",
    "fec0::1": "private",
    "ff02::1": "multicast",
    "5f00::1": "reserved",
}
PUBLIC = ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::808:808"]


@pytest.mark.parametrize(("address", "word"), REFUSED.items())
def test_what_is_not_public_is_refused_by_its_kind(address, word):
    assert PUBLIC_ONLY.objection(ipaddress.ip_address(address)) == word


@pytest.mark.parametrize("address", PUBLIC)
def test_what_is_public_is_not(address):
    assert PUBLIC_ONLY.objection(ipaddress.ip_address(address)) == ""


def test_the_operator_allows_networks_however_their_addresses_are_written():
    policy = policy_of(["10.0.0.0/8", "fd00::/8"])
    for address in ("10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::a01:203", "fd00::1"):
        assert policy.objection(ipaddress.ip_address(address)) == ""
    assert policy.objection(ipaddress.ip_address("127.0.0.1")) == "loopback"
    assert ANYWHERE.objection(ipaddress.ip_address("127.0.0.1")) == ""
    with pytest.raises(ValueError, match="10"):
        policy_of(["10.0.0.1/8"])


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.1", "2130706433", "0x7f.1", "017700000001", "::1", "0"]
)
def test_every_way_to_write_this_machine_is_refused(host):
    with pytest.raises(GatewayError) as caught:
        checked_addresses(host, 9092, PUBLIC_ONLY)
    assert caught.value.code == "egress-refused"
    assert not caught.value.retriable
    problem = caught.value.as_problem()
    assert (problem.status, problem.code) == (409, "egress-refused")


def answering(monkeypatch, *rounds):
    """The name service answers each question with the next of `rounds`; the last one stays."""
    asked = []

    def getaddrinfo(host, port, *_, **__):
        asked.append(host)
        addresses = rounds[min(len(asked), len(rounds)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    monkeypatch.setattr(egress.socket, "getaddrinfo", getaddrinfo)
    return asked


def test_one_address_that_is_refused_refuses_the_name_and_is_not_told(monkeypatch):
    answering(monkeypatch, ["1.1.1.1", "10.9.8.7"])
    with pytest.raises(GatewayError) as caught:
        checked_addresses("kafka.example", 9092, PUBLIC_ONLY)
    assert caught.value.code == "egress-refused"
    assert "10.9.8.7" not in str(caught.value)
    assert "private" in str(caught.value)


@pytest.fixture
def listener():
    """(port, connections taken) of a listener on 127.0.0.1."""
    taken = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            while True:
                try:
                    taken.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1], taken
        server.shutdown(socket.SHUT_RDWR)
    for connection in taken:
        connection.close()


def test_a_name_that_answers_otherwise_the_second_time_is_asked_once(monkeypatch, listener):
    """DNS rebinding: a public address to the check, this machine to the connection."""
    port, taken = listener
    asked = answering(monkeypatch, ["127.0.0.2"], ["127.0.0.1"])
    policy = policy_of(["127.0.0.2/32"])
    with pytest.raises(GatewayError) as caught:
        open_socket("rebinding.example", port, policy, Deadline(1.0))
    assert caught.value.code == "connect-refused"
    assert (asked, taken) == (["rebinding.example"], [])


def test_a_connection_is_made_to_what_was_checked(listener):
    port, _ = listener
    with open_socket(
        "localhost", port, policy_of(["127.0.0.0/8", "::1/128"]), Deadline(2.0)
    ) as made:
        assert made.getpeername() == ("127.0.0.1", port)


def test_a_name_service_that_hangs_costs_the_time_given_and_a_bounded_number_of_threads(
    monkeypatch,
):
    release = threading.Event()

    def hanging(*_, **__):
        release.wait(20)
        return []

    monkeypatch.setattr(egress.socket, "getaddrinfo", hanging)
    began_s = time.monotonic()
    with pytest.raises(GatewayError, match="not resolved") as caught:
        checked_addresses("slow.example", 1, PUBLIC_ONLY, timeout_s=0.1)
    assert time.monotonic() - began_s < 5
    assert (caught.value.code, caught.value.retriable) == ("dns-failed", True)
    for _ in range(egress.LOOKUPS_AT_ONCE - 1):
        with pytest.raises(GatewayError, match="not resolved"):
            checked_addresses("slow.example", 1, PUBLIC_ONLY, timeout_s=0.001)
    with pytest.raises(GatewayError, match="too many"):
        checked_addresses("slow.example", 1, PUBLIC_ONLY, timeout_s=0.001)
    release.set()


@pytest.mark.parametrize("host", ["no-such-name.invalid", "a" * 64 + ".example", "\udcff", ""])
def test_a_name_that_is_none_is_said(host):
    with pytest.raises(GatewayError) as caught:
        checked_addresses(host, 9092, PUBLIC_ONLY)
    assert caught.value.code in {"dns-failed", "egress-refused"}


def test_the_library_s_sockets_are_made_by_the_policy():
    hook = CheckedSocket(proxy_url(policy_of(["127.0.0.0/8", "10.0.0.0/8"])))
    ((_, _, _, _, address),) = hook.dns_lookup("127.0.0.1", 9092)
    assert address == ("127.0.0.1", 9092)
    assert CheckedSocket(proxy_url(ANYWHERE)).dns_lookup("127.0.0.1", 9092)
    with pytest.raises(GatewayError):
        CheckedSocket(proxy_url(PUBLIC_ONLY)).dns_lookup("127.0.0.1", 9092)
