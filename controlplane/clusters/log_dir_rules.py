"""What may be done with a broker's log directories, and which replica goes where. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from controlplane.clusters.capacity import MAIN
from controlplane.clusters.reports import LogDir
from controlplane.clusters.rolls import held
from controlplane.gateway.types import TP, LogDirectory, ReplicaSize, TopicDescription

WORKING, FAILED, ABSENT = "working", "failed", "absent"
"""A directory as its broker has it; absent: the broker does not name it at all."""
STATE_CHOICES = [WORKING, FAILED, ABSENT]
KEEP_FREE_SHARE = 0.05
"""Of a volume; what is moved never fills the rest of it, as logs grow meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """One log directory of one broker.

    Attributes:
        name: the host's name for it; its path where no agent names it.
        usable_bytes: None: the broker does not say.
        problem: what its agent says is wrong with it, in a sentence.
        volume: the same for directories that share their room.
    """

    name: str
    path: str
    state: str
    total_bytes: int | None = None
    usable_bytes: int | None = None
    replicas: tuple[ReplicaSize, ...] = ()
    problem: str = ""
    error: str = ""
    volume: str = ""

    @property
    def here(self) -> list[ReplicaSize]:
        """Replicas that lie there; those on their way are not counted."""
        return [row for row in self.replicas if not row.is_future]

    @property
    def size_bytes(self) -> int:
        return sum(row.size_bytes for row in self.here)

    @property
    def room_bytes(self) -> int | None:
        """What replicas may be put there."""
        if self.usable_bytes is None or self.total_bytes is None:
            return None
        return max(0, self.usable_bytes - int(self.total_bytes * KEEP_FREE_SHARE))


class NoRoomError(Exception):
    """The other directories cannot take what lies in one. Bytes; `room` null: not known."""

    def __init__(self, *, wanted: int, room: int | None) -> None:
        self.wanted = wanted
        self.room = room
        super().__init__("the other directories have no room for it")


def matched(
    said: Sequence[LogDir],
    found: Iterable[LogDirectory],
    volumes: Mapping[str, str] | None = None,
) -> list[Directory]:
    """What the broker says of its directories, under the names that its agent gives them."""
    by_path = {each.path: each for each in said}
    rows = []
    for one in found:
        named = by_path.get(one.log_dir)
        name = named.name if named is not None else one.log_dir
        problem = named.problem if named is not None else ""
        rows.append(
            Directory(
                name=name,
                path=one.log_dir,
                state=FAILED if one.error else WORKING,
                total_bytes=one.total_bytes,
                usable_bytes=one.usable_bytes,
                replicas=one.replicas,
                problem=problem,
                error=one.error,
                volume=(volumes or {}).get(name, ""),
            )
        )
    return rows


def directory(name: str, among: Iterable[Directory]) -> Directory:
    found = next((each for each in among if each.name == name), None)
    return found or Directory(name=name, path="", state=ABSENT)


def others(name: str, among: Iterable[Directory]) -> list[Directory]:
    """Those that take what leaves `name`."""
    return [each for each in among if each.name != name and each.state == WORKING]


def targets(leaving: Iterable[ReplicaSize], into: Sequence[Directory]) -> dict[TP, Directory]:
    """Where each replica goes: the largest first, to where most room is left.

    A room that is not known counts as none while another is known; where none is known, the
    directory with the fewest bytes is taken.

    Raises:
        NoRoomError: together they do not fit.
    """
    rows = sorted(leaving, key=lambda row: (-row.size_bytes, row.tp))
    wanted = sum(row.size_bytes for row in rows)
    rooms = _rooms(into)
    if rows and not into:
        raise NoRoomError(wanted=wanted, room=0)
    if not rooms:
        return _by_fewest(rows, into)
    chosen: dict[TP, Directory] = {}
    left = dict(rooms)
    known = [each for each in into if each.room_bytes is not None]
    for row in rows:
        best = max(known, key=lambda each: (left[_volume(each)], each.name))
        if left[_volume(best)] < row.size_bytes:
            raise NoRoomError(wanted=wanted, room=sum(rooms.values()))
        left[_volume(best)] -= row.size_bytes
        chosen[row.tp] = best
    return chosen


def _rooms(into: Iterable[Directory]) -> dict[str, int]:
    """By volume: two directories on one have its room once."""
    rooms: dict[str, int] = {}
    for each in into:
        if each.room_bytes is not None:
            rooms[_volume(each)] = min(each.room_bytes, rooms.get(_volume(each), each.room_bytes))
    return rooms


def _volume(one: Directory) -> str:
    return one.volume or one.path


def _by_fewest(rows: Iterable[ReplicaSize], into: Sequence[Directory]) -> dict[TP, Directory]:
    sizes = {each.path: each.size_bytes for each in into}
    chosen = {}
    for row in rows:
        best = min(into, key=lambda each: (sizes[each.path], each.name))
        sizes[best.path] += row.size_bytes
        chosen[row.tp] = best
    return chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Emptying:
    """How far one directory is; bytes are those that still have to be copied."""

    left: int
    left_bytes: int
    under_way: frozenset[TP]
    waiting: tuple[ReplicaSize, ...]


def emptying(name: str, among: Sequence[Directory]) -> Emptying:
    source = directory(name, among)
    arriving = {
        row.tp: row.size_bytes
        for each in among
        if each.name != name
        for row in each.replicas
        if row.is_future
    }
    here = source.here
    return Emptying(
        left=len(here),
        left_bytes=sum(max(0, row.size_bytes - arriving.get(row.tp, 0)) for row in here),
        under_way=frozenset(row.tp for row in here if row.tp in arriving),
        waiting=tuple(row for row in here if row.tp not in arriving),
    )


def next_moves(name: str, among: Sequence[Directory], *, at_once: int) -> dict[TP, str]:
    """What is to be begun now, with the path that it goes to.

    Raises:
        NoRoomError: what waits does not fit beside what is under way.
    """
    now = emptying(name, among)
    into = others(name, among)
    coming = {row.tp: row for row in directory(name, among).here if row.tp in now.under_way}
    # Of what is under way only the copied part has been taken from the room so far.
    reserved = [_with_less_room(each, coming) for each in into]
    chosen = targets(now.waiting, reserved)
    free = max(0, at_once - len(now.under_way))
    return {tp: chosen[tp].path for tp in sorted(chosen)[:free]}


def _with_less_room(one: Directory, coming: Mapping[TP, ReplicaSize]) -> Directory:
    if one.usable_bytes is None:
        return one
    missing = sum(
        max(0, coming[row.tp].size_bytes - row.size_bytes)
        for row in one.replicas
        if row.is_future and row.tp in coming
    )
    return Directory(
        name=one.name,
        path=one.path,
        state=one.state,
        total_bytes=one.total_bytes,
        usable_bytes=max(0, one.usable_bytes - missing),
        replicas=one.replicas,
        volume=one.volume,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Replicas that a broker should have and that none of its directories holds, by what the others
    have of them: names of partitions.
    """

    elsewhere: frozenset[TP] = frozenset()
    counted: frozenset[TP] = frozenset()
    """Others have them in sync, and this broker still counts as in sync."""
    only_here: frozenset[TP] = frozenset()

    @property
    def all(self) -> frozenset[TP]:
        return self.elsewhere | self.counted | self.only_here


def missing(broker: int, topics: Iterable[TopicDescription], present: Collection[TP]) -> Missing:
    """What a broker has lost with its directories, measured by metadata."""
    elsewhere, counted, only_here = set(), set(), set()
    for topic, part in held(broker, topics):
        tp = TP(topic, part.partition)
        if tp in present:
            continue
        if not set(part.isr) - {broker}:
            only_here.add(tp)
        elif broker in part.isr:
            counted.add(tp)
        else:
            elsewhere.add(tp)
    return Missing(
        elsewhere=frozenset(elsewhere), counted=frozenset(counted), only_here=frozenset(only_here)
    )


def present_in(among: Iterable[Directory]) -> set[TP]:
    return {row.tp for each in among for row in each.here}


def after_adding(before: Sequence[str], name: str) -> list[str]:
    """Names beside `main`, as a broker's row keeps them."""
    return [*before, *([] if name in before or name == MAIN else [name])]


def after_removing(before: Sequence[str], name: str) -> list[str]:
    return [each for each in before if each != name]


def shown(names: Sequence[str]) -> list[str]:
    return [MAIN, *names]
