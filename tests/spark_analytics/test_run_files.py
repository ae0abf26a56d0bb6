"""A run's own files, and when it must end."""

from __future__ import annotations

import json

import pytest

from spark_analytics import __main__ as command
from spark_analytics.contracts.errors import ContractError
from spark_analytics.io import run_files
from spark_analytics.io.watchdog import overdue


def test_secrets_are_read_once(tmp_path):
    file = tmp_path / "secrets.json"
    file.write_text('{"a": {"kafka.sasl.jaas.config": "x"}}')
    file.chmod(0o600)
    assert run_files.take_secrets(str(file)) == {"a": {"kafka.sasl.jaas.config": "x"}}
    assert not file.exists()
    with pytest.raises(ContractError, match="not there"):
        run_files.take_secrets(str(file))


def test_secrets_that_others_may_read_are_refused(tmp_path):
    file = tmp_path / "secrets.json"
    file.write_text("{}")
    file.chmod(0o640)
    with pytest.raises(ContractError, match="mode 0600"):
        run_files.take_secrets(str(file))


def test_no_secrets_are_no_secrets():
    assert run_files.take_secrets(None) == {}


def test_progress_is_lines_and_phases_are_timed(tmp_path):
    progress = run_files.Progress(str(tmp_path))
    progress.enter("ingest", total=2)
    progress.step(1, 2, "cluster b")
    progress.enter("gold")
    assert set(progress.finish()) == {"ingest", "gold"}
    rows = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    assert [(row["phase"], row["done"]) for row in rows] == [
        ("ingest", 0),
        ("ingest", 1),
        ("gold", 0),
    ]


def test_nan_is_never_written(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        run_files.write_rows(str(tmp_path), "group_lag", [{"lag_seconds": float("nan")}])
    assert not (tmp_path / "group_lag.jsonl").exists()


@pytest.mark.parametrize(
    ("now_s", "lease_age_s", "ends"),
    [
        (99, None, False),
        (99, 89, False),
        (101, None, True),
        (50, 91, True),
        (50, float("inf"), True),
    ],
)
def test_a_run_ends_at_its_deadline_or_without_supervision(now_s, lease_age_s, ends):
    reason = overdue(started_s=0, now_s=now_s, deadline_s=100, lease_age_s=lease_age_s, lease_s=90)
    assert (reason is not None) == ends


@pytest.mark.parametrize("text", [None, "", "{}", '{"run_id": 1}'])
def test_the_command_refuses_what_is_no_configuration_in_one_line(tmp_path, capsys, text):
    file = tmp_path / "config.json"
    if text is not None:
        file.write_text(text)
    assert command.main(["run", "--config", str(file)]) == 1
    assert capsys.readouterr().err.count("\n") == 1
