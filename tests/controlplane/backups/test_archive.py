"""The file of a backup: what was written is read, and nothing else is."""

import gzip
import stat

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controlplane.backups import archive


def write(path, lines=('{"model": "a.b", "pk": 1}', '{"model": "a.c", "pk": "\\u2028"}')):
    with archive.written(path) as writer:
        writer.header({"created_at": "now"})
        for line in lines:
            writer.row(line.split('"')[3], line)
    return list(lines)


def failing_after_one():
    yield '{"model": "a.b", "pk": 1}'
    raise RuntimeError("disk")


def test_what_was_written_is_read(tmp_path):
    lines = write(tmp_path / "b")
    header, rows = archive.checked(tmp_path / "b")
    assert (header["created_at"], rows) == ("now", {"a.b": 1, "a.c": 1})
    assert list(archive.row_lines(tmp_path / "b")) == [line + "\n" for line in lines]


def test_a_backup_of_nothing_is_whole(tmp_path):
    write(tmp_path / "b", ())
    assert archive.checked(tmp_path / "b")[1] == {}
    assert list(archive.row_lines(tmp_path / "b")) == []


def test_only_its_owner_reads_it(tmp_path):
    write(tmp_path / "b")
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o600


def test_a_writer_that_fails_leaves_what_was_there_and_no_other_file(tmp_path):
    write(tmp_path / "b")
    before = (tmp_path / "b").read_bytes()
    with pytest.raises(RuntimeError, match="disk"):
        write(tmp_path / "b", failing_after_one())
    assert (tmp_path / "b").read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["b"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_that_was_cut_short_is_refused(tmp_path, share):
    write(tmp_path / "b")
    whole = (tmp_path / "b").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(archive.ArchiveError):
        archive.checked(tmp_path / "cut")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_one_changed_bit_of_the_lines_is_refused(tmp_path, share, bit):
    """Under the compression, so that its own checksum does not find it first."""
    write(tmp_path / "b")
    text = bytearray(gzip.decompress((tmp_path / "b").read_bytes()))
    text[int(len(text) * share)] ^= 1 << bit
    (tmp_path / "changed").write_bytes(gzip.compress(bytes(text)))
    with pytest.raises(archive.ArchiveError):
        archive.checked(tmp_path / "changed")


def test_a_line_cut_out_is_refused(tmp_path):
    write(tmp_path / "b")
    lines = gzip.decompress((tmp_path / "b").read_bytes()).splitlines(keepends=True)
    (tmp_path / "less").write_bytes(gzip.compress(b"".join([*lines[:1], *lines[2:]])))
    with pytest.raises(archive.ArchiveError, match="not a whole backup"):
        archive.checked(tmp_path / "less")


@pytest.mark.parametrize(
    ("header", "said"),
    [({"format": "other"}, "no backup of Penstock"), ({"version": 2}, "format version 2")],
)
def test_other_files_and_later_formats_are_named(tmp_path, header, said):
    with archive.written(tmp_path / "b") as writer:
        writer.header(header)
    with pytest.raises(archive.ArchiveError, match=said):
        archive.checked(tmp_path / "b")


def test_a_file_that_is_not_there_is_an_error_of_the_archive(tmp_path):
    with pytest.raises(archive.ArchiveError, match="No such file"):
        archive.checked(tmp_path / "none")
