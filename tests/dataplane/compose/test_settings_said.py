"""What a broker says at start of settings that it will not obey."""

from __future__ import annotations

import pytest

from dataplane.compose import main as compose_main

BASE = ["broker.id=1", "zookeeper.connect=localhost:2181"]


def said(capsys: pytest.CaptureFixture[str], *settings: str) -> list[str]:
    assert compose_main.main(None, [*BASE, *settings], check=True) == 0
    return capsys.readouterr().err.splitlines()


def test_a_key_without_effect_is_named_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = said(capsys, "num.io.threads=9", "num.network.threads=3", "num.partitions=4")
    assert line.startswith("penstock broker: configuration num.io.threads is without effect here: ")


def test_an_unknown_key_is_named_with_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = said(capsys, "num.partition=4")
    assert "unknown configuration num.partition is ignored" in line
    assert "did you mean num.partitions?" in line


def test_what_would_do_harm_ends_the_start(capsys: pytest.CaptureFixture[str]) -> None:
    settings = [*BASE, "process.roles=broker"]
    assert compose_main.main(None, settings, check=True) == compose_main.EXIT_BAD_CONFIG
    assert "process.roles: not supported; must stay unset" in capsys.readouterr().err
