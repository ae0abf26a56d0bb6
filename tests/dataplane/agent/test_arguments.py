"""What an agent's command line must say."""

from __future__ import annotations

import argparse

import pytest

from dataplane.agent.main import ArgumentsError, settings_from
from dataplane.runtime import host_addresses

GIVEN = {
    "host_id": "h1",
    "data_dir": "d",
    "rack": None,
    "port_range": "1-9",
    "zookeeper": "127.0.0.1:2181",
}


def settings(address, *others):
    options = argparse.Namespace(**GIVEN, address=address)
    return settings_from(options, addresses=lambda: list(others))


def test_a_host_with_nothing_but_loopback_is_reached_there():
    assert settings(None).address == "127.0.0.1"


def test_a_host_that_others_can_reach_must_say_where():
    with pytest.raises(ArgumentsError) as caught:
        settings(None, "10.0.0.11", "fd00::2", "fd00::3", "fd00::4", "fd00::5")
    assert str(caught.value) == (
        "--address: say where clients and other brokers reach this host;"
        " it has 10.0.0.11, fd00::2, fd00::3, fd00::4"
    )


def test_what_is_said_holds():
    assert settings("10.0.0.11", "10.0.0.11").address == "10.0.0.11"
    assert settings("127.0.0.1", "10.0.0.11").address == "127.0.0.1"


def test_addresses_of_this_host_are_neither_loopback_nor_link_local(monkeypatch, tmp_path):
    table = tmp_path / "if_inet6"
    table.write_text(
        "fd000000000000000000000000000002 04 40 00 82     eth0\n"
        "fe8000000000000000fc00fffe000001 04 40 20 80     eth0\n"
        "00000000000000000000000000000001 01 80 10 80       lo\n"
    )
    monkeypatch.setattr(host_addresses, "IPV6_ADDRESSES", table)
    found = host_addresses.beside_loopback()
    assert "fd00::2" in found
    assert not [each for each in found if each.startswith(("127.", "fe80", "::1", "169.254."))]
    monkeypatch.setattr(host_addresses, "IPV6_ADDRESSES", tmp_path / "none")
    assert "fd00::2" not in host_addresses.beside_loopback()
