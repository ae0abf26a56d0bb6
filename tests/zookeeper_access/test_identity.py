"""What a tree is known by, and connect strings as they are compared."""

import pytest

from zookeeper_access.identity import (
    identity_of,
    is_connect_string,
    is_identity,
    new_identity,
    plain_connect_string,
)


def test_an_identity_is_an_id_and_the_nodes_creation():
    data = new_identity()
    found = identity_of(data, 0x1F)
    assert is_identity(found)
    assert found.endswith("@1f")
    assert identity_of(data, 0x20) != found, "a copy of the node was made by another transaction"
    assert identity_of(new_identity(), 0x1F) != found
    assert is_identity(identity_of(data, -1)), "zxids are signed in the client"


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"id": 7}', b'{"id": "../x"}', b"\xff", b"[" * 100_000]
)
def test_what_is_no_identity(data):
    assert identity_of(data, 7) == ""


def test_a_connect_string_as_it_is_compared():
    assert plain_connect_string("a:1, b:2/root/") == "a:1,b:2/root"
    for good in ("a", "a:1", "a:1,b:2/x/y", "[::1]:2181,10.0.0.1:2181"):
        assert is_connect_string(good)
    for wrong in ("", "a:1,,b:2", "a:1\nb:2", "a:1//x", "a b", "a" * 1_001, "a:1/x?"):
        assert not is_connect_string(wrong)
