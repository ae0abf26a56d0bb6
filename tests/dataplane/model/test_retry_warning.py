"""Retries of the normal course are quiet; those that last are warned of once."""

from __future__ import annotations

from dataplane.model.retry_warning import EXPECTED_MS_MAX, RetryWarning

START_MS = 5_000


def test_one_warning_when_retries_last_for_longer_than_expected() -> None:
    warning = RetryWarning()
    since_first_ms = (0, EXPECTED_MS_MAX, EXPECTED_MS_MAX + 1, EXPECTED_MS_MAX + 2)
    assert [warning.is_due(START_MS + each) for each in since_first_ms] == [
        False,
        False,
        True,
        False,
    ]


def test_a_success_begins_the_count_again() -> None:
    warning = RetryWarning()
    assert not warning.is_due(START_MS)
    assert warning.is_due(START_MS + EXPECTED_MS_MAX + 1)
    warning.reset()
    later_ms = START_MS + 2 * EXPECTED_MS_MAX
    assert not warning.is_due(later_ms)
    assert not warning.is_due(later_ms + EXPECTED_MS_MAX)
    assert warning.is_due(later_ms + EXPECTED_MS_MAX + 1)
