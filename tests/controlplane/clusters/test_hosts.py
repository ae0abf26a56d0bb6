"""What an agent writes of its host: believed of that host alone, and only where it can be meant."""

import json

import pytest

from controlplane.clusters.described import Host, parse_host
from controlplane.clusters.reports import ENDS_MAX, End, parse_observed

DESCRIBED = {"host_id": "h1", "rack": "r1", "address": "10.0.0.1", "port_range": [9000, 9009]}
DEEP = b"[" * 200_000


def parsed(name="h1", **changed):
    data = json.dumps({**DESCRIBED, **changed}).encode()
    return parse_host(name, data, alive=True, brokers=("b",))


def test_a_host_is_what_stands_at_its_own_name():
    assert parsed(agent_version="1") == Host(
        host_id="h1", rack="r1", address="10.0.0.1", port_first=9000, port_last=9009,
        agent_version="1", alive=True, brokers=("b",),
    )  # fmt: skip
    assert parsed(rack="").rack == "h1"


def test_a_host_cannot_describe_another():
    """Brokers of h1 would be advertised at the address of whoever runs h2."""
    assert parsed("h2") is None


@pytest.mark.parametrize(
    "changed",
    [
        {"host_id": None},
        {"address": ""},
        {"address": 1},
        {"address": ["10.0.0.1"]},
        {"port_range": [1e999, 2]},
        {"port_range": [0, 2]},
        {"port_range": [3, 2]},
        {"port_range": [1, 65_536]},
        {"port_range": [1, 2, 3]},
        {"port_range": ["1", "2"]},
        {"port_range": {"1": 2, "3": 4}},
        {"port_range": None},
    ],
)
def test_what_cannot_be_meant_is_no_host(changed):
    assert parsed(**changed) is None


@pytest.mark.parametrize("data", [b"", b"[]", b"1", b"null", b"\xff", DEEP])
def test_what_is_no_object_is_no_host_and_no_report(data):
    assert parse_host("h1", data, alive=True, brokers=()) is None
    assert parse_observed(data).state == "unknown"


@pytest.mark.parametrize("ends", [None, 3, "x", {}, [None, 3, "x", [], {}], [{"at_ms": "x"}] * 99])
def test_ends_are_few_and_of_the_types_that_are_promised(ends):
    report = parse_observed(json.dumps({"state": "running", "ends": ends}).encode())
    assert len(report.ends) <= ENDS_MAX
    assert all(end == End(at_ms=None, exit_code=None, message="") for end in report.ends)


def test_an_end_is_read_with_its_reason_and_its_lines():
    row = {"at_ms": 5, "exit_code": -9, "message": "killed by SIGKILL", "log_tail": ["a\0", 3]}
    report = parse_observed(json.dumps({"state": "running", "ends": [row]}).encode())
    assert report.ends == (
        End(at_ms=5, exit_code=-9, message="killed by SIGKILL", log_tail=("a?",)),
    )


def test_text_that_could_not_be_kept_or_sent_is_replaced():
    bad = "a\ud800b\0c"
    report = parse_observed(
        json.dumps({"state": "failed", "message": bad, "log_tail": [bad]}).encode()
    )
    assert (report.message, report.log_tail) == ("a?b?c", ("a?b?c",))
    assert parsed(agent_version=bad).agent_version == "a?b?c"
    assert parsed(rack=bad) is None
