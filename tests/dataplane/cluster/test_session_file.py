"""A session file speaks of one process alone, and broken content of none."""

import pytest

from dataplane.cluster.session_file import encode_session, session_of


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
