"""Desired state is written by another program: anything may stand there."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.agent.spec import (
    SpecError,
    Wanted,
    broker_settings,
    chroot_of,
    cluster_root,
    decode_desired,
    encode_observed,
    generation_of,
)
from dataplane.agent.states import End
from dataplane.agent.supervisor import END_LINES, ENDS_MAX
from dataplane.config import BROKER_CONFIGS

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
    "text",
    [
        "[" * 100_000,
        '{"generation":' * 100_000,
        json.dumps(GOOD).replace('"generation": 3', '"generation": 1e999'),
        json.dumps(GOOD).replace('"generation": 3', '"generation": NaN'),
        '{"v": 1, "generation": ' + "9" * 10_000 + "}",
        "\ud800",
    ],
)
def test_what_no_reader_takes_is_refused_and_has_no_generation(text):
    """In a watch's callback anything else would end the agent's work on this broker."""
    data = text.encode(errors="surrogatepass")
    with pytest.raises(SpecError):
        decode_desired("k", data)
    assert generation_of(data) == 0


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
        ends=[End(at_ms=1, exit_code=1, message="z" * 10_000, log_tail=("y" * 10_000,) * END_LINES)]
        * ENDS_MAX,
    )
    assert len(data) < 35_000


@pytest.mark.parametrize(
    ("text", "root"), [("h:1", ""), ("h:1,g:2/", ""), ("h:1/a/b", "/a/b"), ("h:1/a/", "/a")]
)
def test_chroot(text, root):
    assert chroot_of(text) == root


CONNECT = {"zookeeper.connect": "127.0.0.1:1/penstock/clusters/cl_1"}
SEALED = {"penstock.inter.broker.username": "b", "penstock.inter.broker.password": "hunter2"}


def settings_of(config, sealed=SEALED, **options):
    row = json.dumps({**GOOD, "config": {**CONNECT, **config}}).encode()
    return broker_settings(decode_desired("cl_1-2", row), sealed, log_dirs="/home/data", **options)


def test_a_broker_stays_below_the_agents_own_chroot():
    """Its cluster's part is below that; the agent's session does not see the rest of the path."""
    below = {"zookeeper.connect": "127.0.0.1:1/shared/penstock/clusters/cl_1"}
    assert settings_of(below, own_chroot="/shared")["zookeeper.connect"].endswith("cl_1")
    for config, own in ((below, ""), (below, "/other"), ({}, "/shared")):
        with pytest.raises(SpecError, match=f"has to end with {own}/penstock/clusters/cl_1"):
            settings_of(config, own_chroot=own)
    wanted = decode_desired("cl_1-2", json.dumps({**GOOD, "config": below}).encode())
    assert cluster_root(wanted) == "/penstock/clusters/cl_1"


def test_the_agent_adds_identity_and_path():
    assert settings_of({"num.partitions": "4"}) == {
        **CONNECT,
        **SEALED,
        "num.partitions": "4",
        "broker.id": "2",
        "log.dirs": "/home/data",
    }
    assert settings_of({"broker.id": "2"})["broker.id"] == "2"


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"log.dirs": "/etc"}, "log.dirs is the agent's"),
        ({"log.dirs": "/home/data"}, "log.dirs is the agent's"),
        ({"log.dir": "/etc"}, "log.dir is the agent's"),
        ({"broker.id": "3"}, "broker.id is the agent's"),
        ({"node.id": "3"}, "node.id is the agent's"),
        ({"zookeeper.connect": "127.0.0.1:1"}, "has to end with /penstock/clusters/cl_1"),
        ({"zookeeper.connect": "h:1/penstock/clusters/cl_2"}, "/penstock/clusters/cl_1"),
        ({"zookeeper.connect": "h:1/penstock/clusters/cl_1/../cl_2"}, "/penstock/clusters/cl_1"),
        ({"no.such.key": "1"}, "'no.such.key' is not a setting"),
        ({"num.partitions\u2028log.dirs": "/etc"}, "is not a setting"),
        ({"x" * 9_000: "1"}, "is not a setting"),
        ({"Num.Partitions": "1"}, "is not a setting"),
        ({"min.insync.replicas": "banana"}, "at least 1"),
        ({"num.partitions": "1\u2028log.dirs=/etc"}, "num.partitions"),
        ({"listeners": "nonsense"}, "listeners"),
        ({"group.max.session.timeout.ms": "1"}, "group.min.session.timeout.ms"),
    ],
)
def test_settings_that_a_broker_may_not_have_are_refused(config, words):
    with pytest.raises(SpecError) as refused:
        settings_of(config)
    assert words in str(refused.value)
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize(
    "key",
    [
        *(name for name, key in BROKER_CONFIGS.items() if key.is_sensitive),
        "listener.name.client.scram-sha-256.sasl.jaas.config",
    ],
)
def test_passwords_and_users_come_sealed(key):
    with pytest.raises(SpecError, match="has to be sealed") as refused:
        settings_of({key: "hunter2"})
    assert "hunter2" not in str(refused.value)
    assert settings_of({}, {key: "hunter2"})[key] == "hunter2"


@given(st.dictionaries(st.sampled_from(sorted(BROKER_CONFIGS)), st.text(max_size=30), max_size=3))
def test_identity_and_cluster_hold_whatever_is_wanted(config):
    try:
        found = settings_of(config)
    except SpecError:
        return
    assert (found["broker.id"], found["log.dirs"]) == ("2", "/home/data")
    assert chroot_of(found["zookeeper.connect"]) == "/penstock/clusters/cl_1"
