import json
from pathlib import Path

import pytest

from dataplane.agent.capacity import capacity_of
from dataplane.agent.data_dirs import FILE, REGISTRY, DataDirError, DataDirs, extra_from
from dataplane.agent.incarnation import IncarnationError

MAIN = Path("/srv/agent")


def host(tmp_path, *names):
    (tmp_path / "main").mkdir(exist_ok=True)
    return DataDirs(tmp_path / "main", {name: tmp_path / name for name in names})


def test_directories_are_given_by_name():
    found = extra_from(["fast=/mnt/fast", "b-2=/mnt/b/"], main=MAIN)
    assert found == {"fast": Path("/mnt/fast"), "b-2": Path("/mnt/b")}


@pytest.mark.parametrize(
    "given",
    [
        ["/mnt/b"],
        ["b=mnt/b"],
        ["B=/mnt/b"],
        ["main=/mnt/b"],
        ["b=/mnt/b", "b=/mnt/c"],
        ["b=/mnt/b", "c=/mnt/b/c"],
        ["b=/srv/agent/b"],
        ["b=/srv"],
        ["b=/mnt/a,b"],
        [f"d{n}=/mnt/d{n}" for n in range(16)],
    ],
)
def test_what_is_no_set_of_directories_is_refused(given):
    with pytest.raises(DataDirError):
        extra_from(given, main=MAIN)


def test_each_gets_an_id_once(tmp_path):
    dirs = host(tmp_path, "b")
    first = dirs.register("host-id")
    assert [each.name for each in first] == ["main", "b"]
    assert first[1].directory_id
    assert first[1].problem == ""
    assert host(tmp_path, "b").register("host-id") == first


def test_a_disk_that_is_not_mounted_is_no_new_directory(tmp_path):
    (was,) = [each for each in host(tmp_path, "b").register("host-id") if each.name == "b"]
    (tmp_path / "b").rename(tmp_path / "unplugged")
    (tmp_path / "b").mkdir()
    again = host(tmp_path, "b")
    found = again.register("host-id")[1]
    assert found.directory_id == was.directory_id
    assert "not mounted" in found.problem
    assert not (tmp_path / "b" / FILE).exists()
    (tmp_path / "b").rmdir()
    assert "cannot be read" in again.look()[1].problem
    (tmp_path / "unplugged").rename(tmp_path / "b")
    assert again.look()[1] == was


def test_a_new_disk_is_taken_when_an_operator_says_so(tmp_path):
    was = host(tmp_path, "b").register("host-id")[1]
    (tmp_path / "b" / FILE).unlink()
    found = host(tmp_path, "b").register("host-id", renewed=["b"])[1]
    assert found.problem == ""
    assert found.directory_id not in {"", was.directory_id}


def test_another_disk_of_the_same_host_is_not_the_one_that_was_registered(tmp_path):
    first = host(tmp_path, "b", "c").register("host-id")
    (tmp_path / "b").rename(tmp_path / "x")
    (tmp_path / "c").rename(tmp_path / "b")
    (tmp_path / "x").rename(tmp_path / "c")
    found = host(tmp_path, "b", "c").register("host-id")
    assert [each.problem for each in found[1:]] == [
        "Another disk is there than was registered."
    ] * 2
    assert [each.directory_id for each in found] == [each.directory_id for each in first]


def test_a_directory_of_another_host_is_refused(tmp_path):
    host(tmp_path, "b").register("one")
    (tmp_path / "main" / REGISTRY).unlink()
    with pytest.raises(IncarnationError, match="data directory one"):
        host(tmp_path, "b").register("two")
    found = host(tmp_path, "b").register("two", takes_over=True)[1]
    assert found.problem == ""
    assert json.loads((tmp_path / "b" / FILE).read_text())["host_directory_id"] == "two"


def test_a_registry_that_cannot_be_read_stops_the_agent(tmp_path):
    dirs = host(tmp_path, "b")
    dirs.register("host-id")
    (tmp_path / "main" / REGISTRY).write_text("{")
    with pytest.raises(IncarnationError, match="restore the file"):
        dirs.register("host-id")
    assert dirs.look()[1].problem


def test_the_host_reports_the_room_of_each(tmp_path):
    dirs = host(tmp_path, "b", "c")
    dirs.register("host-id")
    (tmp_path / "c" / FILE).unlink()
    found = capacity_of(tmp_path / "main", (1, 2), directories=dirs.look)
    main, second, third = found.directories
    assert (main.name, main.total_bytes) == ("main", found.disk_total_bytes)
    assert second.volume == main.volume
    assert second.free_bytes > 0
    # It may be a part of the disk that it is not mounted on.
    assert (third.total_bytes, third.free_bytes, third.volume) == (None, None, None)
    assert "not mounted" in third.problem
    assert json.loads(found.encode())["directories"][1]["name"] == "b"
