"""A session file speaks of one process alone, and broken content of none."""

import pytest

from dataplane.cluster.session_file import TEXT_MAX, encode_session, session_of, software_of


def test_a_session_is_read_by_the_process_that_wrote_it() -> None:
    content = encode_session(71, 0x1000_0000_0000_0001)
    assert session_of(content, 71) == 0x1000_0000_0000_0001
    assert session_of(content, 72) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b"[]", b"3", b"null", b'{"pid": 71}', b'{"pid": 71, "session_id": "x"}'],
)
def test_broken_content_speaks_of_nobody(content: bytes) -> None:
    assert session_of(content, 71) is None
    assert software_of(content, 71) == ("", "")


def test_a_broker_says_its_release_and_its_protocol() -> None:
    content = encode_session(71, 5, software="7.1", protocol="3.9-IV0")
    assert software_of(content, 71) == ("7.1", "3.9-IV0")
    assert software_of(content, 72) == ("", "")
    # One of before there were names, and one that writes nonsense.
    assert software_of(b'{"pid": 71, "session_id": 5}', 71) == ("", "")
    assert software_of(b'{"pid": 71, "software": 5, "protocol": []}', 71) == ("", "")
    long = encode_session(71, 5, software="x" * 1_000)
    assert software_of(long, 71) == ("x" * TEXT_MAX, "")
