import shutil

import pytest

from dataplane.agent.data_dirs import FILE, DataDirs
from dataplane.agent.log_dirs import LogDirError, LogDirs


class OneBroker:
    def __init__(self, tmp_path):
        self.root = tmp_path
        (tmp_path / "main").mkdir()
        self.home = tmp_path / "main" / "k-1"
        self.home.mkdir()
        self.open()

    def open(self, *, renewed=()):
        extra = {name: self.root / name for name in ("b", "c")}
        self.host = DataDirs(self.root / "main", extra)
        self.host.register("host-id", renewed=renewed)
        self.dirs = LogDirs("k-1", self.home, self.host)

    def settle(self, *wanted, given_up=()):
        found = self.dirs.settle(wanted, given_up)
        for each in found:
            if not each.problem:
                each.path.mkdir(parents=True, exist_ok=True)  # as a broker does
        return {each.name: each for each in found}

    def hold(self, name, replica="t-0"):
        path = self.root / name / "k-1" / "data" / replica
        path.mkdir(parents=True)
        (path / "log").write_text("x")
        return path


@pytest.fixture
def broker(tmp_path):
    return OneBroker(tmp_path)


def test_without_a_word_it_has_the_first_alone(broker):
    found = broker.settle()
    assert [each.path for each in found.values()] == [broker.home / "data"]
    assert not (broker.home / "log-dirs.json").exists()


def test_one_is_added_and_taken_away_again(broker):
    found = broker.settle("b")
    assert found["b"].path == broker.root / "b" / "k-1" / "data"
    assert broker.settle("b") == found
    assert broker.dirs.now() == list(found.values())
    broker.hold("b", "t-0.0123-delete")
    assert list(broker.settle()) == ["main"]
    assert not (broker.root / "b" / "k-1").exists()


def test_one_that_holds_replicas_is_not_taken_away(broker):
    broker.settle("b")
    replica = broker.hold("b")
    found = broker.settle()
    assert "still holds replicas" in found["b"].problem
    assert found["b"].path == broker.root / "b" / "k-1" / "data"
    assert replica.exists()
    shutil.rmtree(replica)
    assert list(broker.settle()) == ["main"]


def test_one_that_was_given_up_is_left_out_and_comes_back_empty(broker):
    broker.settle("b")
    replica = broker.hold("b")
    marker = (broker.root / "b" / FILE).read_bytes()
    (broker.root / "b" / FILE).unlink()  # its disk is away
    assert list(broker.settle(given_up=["b"])) == ["main"]
    assert replica.exists()
    with pytest.raises(LogDirError, match="not mounted"):
        broker.settle("b")
    (broker.root / "b" / FILE).write_bytes(marker)
    found = broker.settle("b")
    assert found["b"].problem == ""
    assert not replica.exists(), "its replicas were made elsewhere meanwhile"
    kept = broker.hold("b", "u-0")
    broker.settle("b")
    assert kept.exists()


def test_what_was_given_up_and_can_be_read_is_removed(broker):
    broker.settle("b")
    replica = broker.hold("b")
    assert list(broker.settle(given_up=["b"])) == ["main"]
    assert not replica.exists()
    assert list(broker.settle(given_up=["b"])) == ["main"]


def test_wanted_and_given_up_at_once_is_wanted(broker):
    broker.settle("b")
    replica = broker.hold("b")
    assert broker.settle("b", given_up=["b"])["b"].problem == ""
    assert replica.exists()


def test_another_disk_is_offline_and_not_begun_from_nothing(broker):
    broker.settle("b")
    shutil.rmtree(broker.root / "b")
    broker.open(renewed=["b"])
    found = broker.settle("b")
    assert found["b"].problem == "Another disk is there than the broker had."
    with pytest.raises(NotADirectoryError):
        found["b"].path.mkdir(parents=True)
    assert list(broker.settle(given_up=["b"])) == ["main"]
    assert broker.settle("b")["b"].problem == ""


def test_a_disk_that_is_away_is_offline_until_it_is_back(broker):
    first = broker.settle("b")
    marker = (broker.root / "b" / FILE).read_bytes()
    (broker.root / "b" / FILE).unlink()
    assert broker.settle("b")["b"].problem
    assert broker.settle()["b"].problem, "nobody can say that it holds nothing"
    (broker.root / "b" / FILE).write_bytes(marker)
    assert broker.settle("b") == first


def test_what_the_host_does_not_have_is_refused_before_anything_is_done(broker):
    broker.settle("b")
    with pytest.raises(LogDirError, match="no data directory d"):
        broker.dirs.check(["b", "d"])
    (broker.root / "c" / FILE).unlink()
    with pytest.raises(LogDirError, match="data directory c: "):
        broker.dirs.check(["c"])
    broker.dirs.check(["b"])


def test_what_nobody_knows_anything_of_is_put_aside(broker):
    replica = broker.hold("b")
    broker.settle("b")
    assert not replica.exists()
    (aside,) = (broker.root / "b").glob(".aside-k-1-*")
    assert (aside / "data" / "t-0" / "log").exists()


def test_a_deleted_broker_leaves_nothing_on_any_disk(broker):
    broker.settle("b", "c")
    broker.hold("c")
    broker.dirs.remove()
    assert not (broker.root / "b" / "k-1").exists()
    assert not (broker.root / "c" / "k-1").exists()


def test_a_note_that_cannot_be_read_is_no_empty_one(broker):
    broker.settle("b")
    (broker.home / "log-dirs.json").write_text("[]")
    with pytest.raises(LogDirError, match="restore the file") as caught:
        broker.dirs.check(["b"])
    assert str(broker.root) not in str(caught.value)


def test_what_cannot_be_put_aside_or_removed_is_called_by_its_name(broker):
    """A tenant reads it: paths of hosts are their operators'."""
    broker.settle("b")
    shutil.rmtree(broker.root / "b" / "k-1")
    (broker.root / "b" / "k-1").write_text("no directory")
    with pytest.raises(LogDirError) as kept:
        broker.settle(given_up=["b"])
    assert str(kept.value) == (
        "data directory b: what the broker has there cannot be removed: Not a directory"
    )
    key = "k" * 250  # no name is left for what is put aside
    (broker.root / "c" / key).mkdir()
    with pytest.raises(LogDirError) as aside:
        LogDirs(key, broker.home, broker.host).settle(["c"], ())
    assert str(aside.value) == (
        "data directory c: what is there already cannot be put aside: File name too long"
    )
