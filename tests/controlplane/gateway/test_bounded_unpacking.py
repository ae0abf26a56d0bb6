"""What a batch unpacks to has an end, whoever wrote it."""

import gzip
import zlib

import pytest
from kafka.record import default_records

from controlplane.gateway import bounded_unpacking
from controlplane.gateway.bounded_unpacking import TooLargeError, gunzip


@pytest.mark.parametrize("value", [b"", b"x", b"records " * 10_000])
def test_what_was_packed_comes_back_in_several_members_too(value):
    assert gunzip(gzip.compress(value)) == value
    assert gunzip(memoryview(gzip.compress(value) + gzip.compress(b"more"))) == value + b"more"


def test_a_bomb_is_refused_before_it_is_whole(monkeypatch):
    monkeypatch.setattr(bounded_unpacking, "UNPACKED_MAX_BYTES", 1_000)
    assert len(gunzip(gzip.compress(b"0" * 1_000))) == 1_000
    for payload in (
        gzip.compress(b"0" * 1_001),
        gzip.compress(b"0" * 900) + gzip.compress(b"0" * 900),
    ):
        with pytest.raises(TooLargeError):
            gunzip(payload)


@pytest.mark.parametrize("payload", [b"no gzip", gzip.compress(b"x" * 100)[:-9]])
def test_what_is_none_is_refused(payload):
    with pytest.raises(zlib.error):
        gunzip(payload)


def test_the_library_unpacks_by_it():
    bounded_unpacking.bound_unpacking()
    assert default_records.gzip_decode is gunzip
