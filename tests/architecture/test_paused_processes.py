"""Tests that pause a process go on when it stands still, not when it was asked to."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SENDS = ("signal.SIGSTOP", "send_signal(19)")
MAY_SEND = {
    "processes.py": "`hold_still` itself",
    "postgres_server.py": "to all its processes first; each is waited for by `hold_still`",
}


def test_who_sends_the_signal_waits_until_it_is_taken():
    found = {
        str(file.relative_to(TESTS))
        for file in TESTS.rglob("*.py")
        if file != Path(__file__) and any(each in file.read_text() for each in SENDS)
    }
    assert found - MAY_SEND.keys() == set(), "use `hold_still` of tests/processes.py"
