"""The units: what each process may do on its host, as systemd itself reads them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dataplane.agent.main import DATA_DIRS_VARIABLE, LABELS_VARIABLE, VERSIONS_VARIABLE

UNITS = Path(__file__).resolve().parents[2] / "deploy" / "systemd"
SERVICES = sorted(path.name for path in UNITS.glob("*.service"))
EXPOSURE_MAX = 2.0
"""Of 10, by `systemd-analyze security`; what is left is the network and a user that stays."""
HARDENED = {
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "UMask": "0077",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "ProtectProc": "invisible",
    "PrivateDevices": "yes",
    "PrivateTmp": "yes",
    "RestrictNamespaces": "yes",
    "SystemCallFilter": "@system-service",
}


def settings_of(name):
    lines = (UNITS / name).read_text().splitlines()
    pairs = [line.split("=", 1) for line in lines if "=" in line and not line.startswith("#")]
    assert len(pairs) == len({key for key, _ in pairs})
    return dict(pairs)


def variables_of(name):
    lines = (UNITS / name).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_there_is_a_unit_for_each_kind_of_process():
    assert SERVICES == [
        "penstock-agent.service",
        "penstock-beat.service",
        "penstock-brokers.service",
        "penstock-web.service",
        "penstock-worker-slow.service",
        "penstock-worker.service",
    ]


@pytest.mark.parametrize("name", SERVICES)
def test_a_process_writes_its_own_directory_and_gains_no_rights(name):
    settings = settings_of(name)
    assert {key: settings.get(key) for key in HARDENED} == HARDENED
    on_host = name in {"penstock-agent.service", "penstock-brokers.service"}
    directory = "penstock-agent" if on_host else "penstock"
    assert settings["ReadWritePaths"] == f"/var/lib/{directory}"
    assert settings["User"] == settings["Group"] == directory


def test_brokers_share_neither_user_nor_settings_with_the_control_plane():
    agent, shared = settings_of("penstock-agent.service"), settings_of("penstock-web.service")
    assert agent["User"] != shared["User"]
    assert agent["EnvironmentFile"] == "/etc/penstock/agent.env"
    theirs = variables_of("penstock.env").keys() & variables_of("agent.env").keys()
    assert theirs == {"PENSTOCK_ZOOKEEPER"}
    # All that the agent's command line takes is there, and what it reads by itself.
    by_itself = {DATA_DIRS_VARIABLE, LABELS_VARIABLE, VERSIONS_VARIABLE}
    named = {*re.findall(r"\$\{(\w+)\}", agent["ExecStart"]), *by_itself}
    assert named == variables_of("agent.env").keys()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
@pytest.mark.parametrize("name", SERVICES)
def test_systemd_finds_nothing_wrong_and_little_exposed(name, tmp_path):
    unit = tmp_path / name
    # The checkout does not stand where the unit has it.
    for each in SERVICES:
        text = (UNITS / each).read_text().replace("/opt/penstock/.venv/bin/python", "/bin/sh")
        (tmp_path / each).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert name not in done.stderr
    assert done.returncode == 0, done.stderr
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    (exposure,) = re.findall(r"exposure level for \S+: ([\d.]+)", judged.stdout)
    assert float(exposure) <= EXPOSURE_MAX


def test_brokers_outlive_their_agent_and_end_with_their_unit():
    agent, brokers = settings_of("penstock-agent.service"), settings_of("penstock-brokers.service")
    # One that takes too much memory must not end the others.
    assert (agent["KillMode"], agent["OOMPolicy"]) == ("process", "continue")
    assert agent["ExecStart"].endswith(" --keep-brokers")
    assert agent["Requires"] == "penstock-brokers.service"
    assert "penstock-agent.service" in brokers["After"].split()
    assert (brokers["Type"], brokers["RemainAfterExit"]) == ("oneshot", "yes")
    assert set(re.findall(r"\$\{(\w+)\}", brokers["ExecStop"])) <= variables_of("agent.env").keys()
