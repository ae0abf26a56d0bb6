"""Desired state is written by another program: anything may stand there."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.agent.spec import SpecError, Wanted, chroot_of, decode_desired, encode_observed

GOOD = {
    "v": 1,
    "cluster_id": "cl_1",
    "broker_id": 2,
    "generation": 3,
    "state": "running",
    "config": {"num.partitions": 4},
    "secret": "token",
}


def test_a_good_one():
    broker = decode_desired("cl_1-2", json.dumps(GOOD).encode())
    assert broker.wanted is Wanted.RUNNING
    assert broker.config == {"num.partitions": "4"}
    assert "token" not in repr(broker)


@pytest.mark.parametrize("field", ["v", "cluster_id", "broker_id", "generation", "state", "config"])
def test_what_is_missing_is_named(field):
    row = {name: value for name, value in GOOD.items() if name != field}
    with pytest.raises(SpecError, match=f"{field} is missing"):
        decode_desired("k", json.dumps(row).encode())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("v", 2),
        ("broker_id", -1),
        ("broker_id", "1"),
        ("broker_id", True),
        ("state", "up"),
        ("config", []),
    ],
)
def test_what_is_wrong_is_refused(field, value):
    with pytest.raises(SpecError):
        decode_desired("k", json.dumps({**GOOD, field: value}).encode())


@pytest.mark.parametrize("key", ["", "..", "a/b", ".hidden"])
def test_a_key_cannot_lead_out_of_the_data_directory(key):
    with pytest.raises(SpecError):
        decode_desired(key, json.dumps(GOOD).encode())


@given(st.binary(max_size=200))
def test_garbage_is_refused(data):
    with pytest.raises(SpecError):
        decode_desired("k", data)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda s: st.lists(s) | st.dictionaries(st.text(), s),
    )
)
def test_any_object_is_read_as_texts_and_anything_else_is_refused(value):
    row = json.dumps({**GOOD, "config": value}).encode()
    if isinstance(value, dict):
        wanted = {name: str(inner) for name, inner in value.items()}
        assert decode_desired("k", row).config == wanted
    else:
        with pytest.raises(SpecError):
            decode_desired("k", row)


def test_reports_are_bounded():
    data = encode_observed(
        generation=1,
        state="backoff",
        pid=None,
        restarts=9,
        since_ms=1,
        exit_code=1,
        message="x" * 10_000,
        log_tail=["y" * 10_000] * 20,
    )
    assert len(data) < 15_000


@pytest.mark.parametrize(
    ("text", "root"), [("h:1", ""), ("h:1,g:2/", ""), ("h:1/a/b", "/a/b"), ("h:1/a/", "/a")]
)
def test_chroot(text, root):
    assert chroot_of(text) == root
