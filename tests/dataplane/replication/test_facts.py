"""The table of facts names tests that exist."""

from __future__ import annotations

import pathlib

from tests.dataplane.log import test_facts as of_the_log


def test_every_fact_is_held_by_a_test_that_exists(monkeypatch) -> None:
    monkeypatch.setattr(of_the_log, "HERE", pathlib.Path(__file__).parent)
    of_the_log.test_every_fact_is_held_by_a_test_that_exists()
