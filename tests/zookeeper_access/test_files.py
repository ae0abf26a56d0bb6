"""The login file: private, and whole or refused."""

from __future__ import annotations

import os

import pytest

from zookeeper_access import files, keys
from zookeeper_access.settings import AccessError, ZooKeeperAccess

HOST = {
    keys.SASL_USERNAME: "member",
    keys.SASL_PASSWORD: "member-secret-1",
    keys.ACL_USERNAME: "host-1",
    keys.ACL_PASSWORD: "host-1-secret-1",
    keys.ACL_ADMINISTRATORS: "sasl:controlplane",
    keys.ENDPOINT_IDENTIFICATION: "HTTPS",
    keys.SET_ACL: "true",
}


def private(path, content):
    path.write_bytes(content)
    path.chmod(0o600)


def test_what_was_written_is_read(tmp_path):
    file = tmp_path / "host.properties"
    files.write(file, HOST)
    assert files.read_login(file) == HOST
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("set_acl", ["true", "false"])
def test_a_file_that_was_cut_short_anywhere_is_refused(tmp_path, set_acl):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    files.write(whole, {**HOST, keys.SET_ACL: set_acl})
    content = whole.read_bytes()
    for length in range(len(content) - 1):  # without the last line's end nothing is missing
        private(cut, content[:length])
        with pytest.raises(AccessError):
            ZooKeeperAccess.parse(files.read_login(cut))
    private(cut, content[:-1])
    access = ZooKeeperAccess.parse(files.read_login(cut))
    assert access == ZooKeeperAccess.parse({**HOST, keys.SET_ACL: set_acl})


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"\xff\n"])
def test_a_file_that_says_nothing_is_no_login(tmp_path, content):
    private(tmp_path / "file", content)
    with pytest.raises(AccessError):
        files.read_login(tmp_path / "file")


def test_a_file_that_is_not_there_is_no_login(tmp_path):
    with pytest.raises(AccessError, match="No such file"):
        files.read_login(tmp_path / "file")


def test_a_write_that_does_not_end_leaves_the_file_of_before(tmp_path, monkeypatch):
    file = tmp_path / "host.properties"
    files.write(file, HOST)

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write(file, {keys.SET_ACL: "false"})
    assert files.read_login(file) == HOST
