"""A small, always equal part of the fuzzing for every change; and that the fuzzer sees what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dataplane.wire.apis import API_TABLE
from tests.fuzz import mutation, watch
from tests.fuzz.message_targets import check_round_trip
from tests.fuzz.mutation import INPUT_BYTES_MAX, Mutator
from tests.fuzz.target import Finding, Target
from tests.fuzz.targets import all_targets
from tests.fuzz.watch import Watch

ROOT = Path(__file__).resolve().parents[2]
TARGETS = all_targets()
INPUTS_EACH = 500

# What was found once: target, input in hex, how it showed.
FOUND = [
    ("Produce", "017fff7fffffffffff00000000", "null topics"),
    ("Produce", "04ffffb4d200000000ffffffff", "null topics"),
    ("Produce", "04ff06b4d20000000100000000", "an id of a negative length"),
    ("Produce", "0b080000000000000000000000000000", "null topics, flexible"),
    ("Fetch", "01000000017fffffff000000ffffffff07000000", "null topics"),
    ("Fetch", "06000000010092fb262600000100000000ffffffffff00000000", "null topics"),
    ("(before login)", "000a0024808000000007ffff", "a negative version"),
    (
        "(record batch)",
        (
            "00000000000000000000000038ffffffff02827184330000000000007fffffffffffffff7fff"
            "ffffffffffffffffffffffffffffffffffffffff000000010c000200010100"
        ),
        "a time above 64 bits",
    ),
]


def test_every_api_is_a_target() -> None:
    assert {spec.name for spec in API_TABLE.values()} <= TARGETS.keys()


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_inputs_are_read_or_refused(name: str) -> None:
    taken = Watch(TARGETS[name])
    mutation.fuzz(taken, seed=1, inputs=INPUTS_EACH)
    assert taken.found == {}
    assert taken.inputs >= INPUTS_EACH
    assert 0 < taken.understood < taken.inputs, "neither only sense nor only nonsense"


@pytest.mark.parametrize(("name", "data", "how"), FOUND)
def test_what_was_found_once_is_right_now(name: str, data: str, how: str) -> None:
    taken = Watch(TARGETS[name])
    taken.take(bytes.fromhex(data))
    assert taken.found == {}, how


@pytest.mark.parametrize(
    "name", ["CreateTopics", "DescribeGroups", "ListOffsets", "Fetch", "Metadata"]
)
def test_a_count_of_two_thousand_million_allocates_nothing(name: str) -> None:
    """Over every valid input, at every place."""
    taken = Watch(TARGETS[name])
    for seed in taken.target.seeds()[::3]:
        for at in range(1, min(len(seed), 120)):
            for count in (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\x0f"):
                taken.take((seed[:at] + count + seed[at + 4 :])[:INPUT_BYTES_MAX])
    assert taken.found == {}
    assert taken.inputs > 1000
    assert taken.allocated_bytes_max < taken.target.allocation_bytes


# -- the fuzzer itself


def watched(run, **limits) -> Watch:
    return Watch(Target("planted", run, lambda: [b"seed"], **limits))


def test_an_error_that_escapes_is_found_once_with_its_first_input() -> None:
    def run(data: bytes) -> bool:
        return {}[data[0]]

    taken = watched(run)
    for data in (b"\x05", b"\x06"):
        taken.take(data)
    (found,) = taken.found.values()
    assert (found.kind, found.input_hex, found.count) == ("escaped", "05", 2)
    assert taken.understood == 0


def test_an_allocation_beyond_the_bound_is_found() -> None:
    taken = watched(lambda data: bool(bytearray(10_000 * len(data))), allocation_bytes=1000)
    for _ in range(watch.SAMPLE_EVERY):
        taken.take(b"1234")
    assert [found.kind for found in taken.found.values()] == ["memory"]
    assert taken.allocated_bytes_max >= 40_000


def test_a_slow_input_is_found(monkeypatch) -> None:
    monkeypatch.setattr(watch, "CPU_S_MAX", 0.001)
    taken = watched(lambda data: sum(range(500_000)) > 0)
    for _ in range(watch.SAMPLE_EVERY // 2):
        taken.take(b"1234")
    assert [found.kind for found in taken.found.values()] == ["slow"]


def test_what_is_lost_on_the_way_is_found() -> None:
    """A text of more than a length field holds can be read by no peer."""
    from dataplane.wire.messages.describe_acls import DescribeAclsRequest

    request = DescribeAclsRequest(resource_name_filter="x" * 40_000)
    with pytest.raises(Finding, match="round trip"):
        check_round_trip(request, 3)


def test_the_same_seed_makes_the_same_inputs() -> None:
    seeds = TARGETS["Metadata"].seeds()
    one, two, other = (Mutator(seeds, seed) for seed in (7, 7, 8))
    first = [one.next() for _ in range(50)]
    assert first == [two.next() for _ in range(50)]
    assert first != [other.next() for _ in range(50)]
    assert max(map(len, first)) <= INPUT_BYTES_MAX


_STUCK = """
import json
from tests.fuzz import watch
from tests.fuzz.target import Target
watch.TICK_S = 0.1
watch.ADDRESS_SPACE_BYTES = 1 << 26
def run(data):
    if data == b"loop":
        while True:
            pass
    return bool(bytearray(1 << 28))
taken = watch.Watch(Target("planted", run, list))
with taken.bounded():
    taken.take(b"loop")
    taken.take(b"take")
print(json.dumps(sorted(found.message.split(":")[0] for found in taken.found.values())))
"""


def test_a_loop_without_end_and_an_allocation_without_bound_end_in_findings() -> None:
    """In a process of its own, because both limits are a process's."""
    done = subprocess.run(
        [sys.executable, "-c", _STUCK],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert json.loads(done.stdout) == ["MemoryError", "_StuckError"], done.stderr


def test_the_program_prints_a_table_and_its_sum() -> None:
    command = [
        *(sys.executable, "-m", "tests.fuzz", "--minutes", "0.005", "--engine", "mutation"),
        *("--only", "ApiVersions,(request header)", "--seed", "1"),
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "engine mutation, seed 1, 0.3 s a target"
    assert [line.split("  ")[0] for line in lines[2:4]] == ["ApiVersions", "(request header)"]
    counts = [int(line[32:44].replace(",", "")) for line in lines[2:4]]
    assert min(counts) > 100
    assert lines[4].startswith(f"{sum(counts):,} inputs in ")
    assert lines[4].endswith(" 0 findings")
