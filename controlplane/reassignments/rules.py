"""What moves, how long that takes, and what remains to be done. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from controlplane.gateway.types import TP

Replicas = tuple[int, ...]
REPLICA_KEYS = (
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    tp: TP
    before: Replicas
    after: Replicas
    size_bytes: int | None
    """None: nobody could say."""

    @property
    def adding(self) -> Replicas:
        return tuple(broker for broker in self.after if broker not in self.before)

    @property
    def removing(self) -> Replicas:
        return tuple(broker for broker in self.before if broker not in self.after)

    @property
    def is_unsized(self) -> bool:
        """Data moves, and nobody could say how much."""
        return self.size_bytes is None and bool(self.adding)

    @property
    def bytes_to_move(self) -> int:
        """What is known of it: 0 where the size is not."""
        return (self.size_bytes or 0) * len(self.adding)


def moves_of(
    current: Mapping[TP, Replicas], wanted: Mapping[TP, Replicas], sizes: Mapping[TP, int]
) -> list[Move]:
    """Only what changes, in partition order."""
    return [
        Move(tp=tp, before=current[tp], after=wanted[tp], size_bytes=sizes.get(tp))
        for tp in sorted(wanted)
        if wanted[tp] != current[tp]
    ]


def seconds_estimated(
    moves: Sequence[Move], throttle_bytes_per_s: int | None, *, batch_size: int
) -> float | None:
    """Time under the throttle, which bounds each broker both ways. None without one, and where
    the size of what moves is not known.

    The slowest of three decides: the broker that receives most, the leader that sends most (it
    feeds every new replica of its partitions), and the moves' taking turns, `batch_size` at a time.
    """
    if not throttle_bytes_per_s or any(move.is_unsized for move in moves):
        return None
    inbound, outbound = Counter[int](), Counter[int]()
    for move in moves:
        outbound[move.before[0]] += move.bytes_to_move
        for broker in move.adding:
            inbound[broker] += move.size_bytes or 0
    total = sum(move.bytes_to_move for move in moves)
    bytes_in_a_row = max((*inbound.values(), *outbound.values(), total / batch_size))
    return bytes_in_a_row / throttle_bytes_per_s


def reversed_moves(moves: Iterable[Move]) -> list[Move]:
    """The way back."""
    return [
        Move(tp=move.tp, before=move.after, after=move.before, size_bytes=move.size_bytes)
        for move in moves
    ]


def throttled_replicas(moves: Sequence[Move]) -> dict[str, dict[str, str]]:
    """Both lists of each topic, `partition:broker,…`: who sends on the leaders' side, who is new on
    the followers'. Replicas in sync are not limited, though they are listed.
    """
    leaders: dict[str, list[str]] = {}
    followers: dict[str, list[str]] = {}
    for move in moves:
        for lists, brokers in ((leaders, move.before), (followers, move.adding)):
            lists.setdefault(move.tp.topic, []).extend(
                f"{move.tp.partition}:{broker}" for broker in brokers
            )
    return {
        topic: dict(
            zip(REPLICA_KEYS, (",".join(leaders[topic]), ",".join(followers[topic])), strict=True)
        )
        for topic in sorted(leaders)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Where every planned move stands, by the brokers' own word."""

    done: tuple[Move, ...]
    moving: tuple[Move, ...]
    todo: tuple[Move, ...]
    foreign: tuple[Move, ...]
    gone: tuple[Move, ...]


def survey(moves: Sequence[Move], *, now: Mapping[TP, Replicas], ongoing: Collection[TP]) -> Survey:
    """Sort the moves. `foreign`: the partition has replicas that the plan never spoke of; `gone`:
    its topic was deleted.
    """
    done, moving, todo, foreign, gone = [], [], [], [], []
    for move in moves:
        replicas = now.get(move.tp)
        if replicas is None:
            gone.append(move)
        elif move.tp in ongoing:
            moving.append(move)
        elif replicas == move.after:
            done.append(move)
        elif replicas == move.before:
            todo.append(move)
        else:
            foreign.append(move)
    return Survey(
        done=tuple(done),
        moving=tuple(moving),
        todo=tuple(todo),
        foreign=tuple(foreign),
        gone=tuple(gone),
    )


class MoveState(StrEnum):
    """Where one partition is on its way."""

    WAITING = "waiting"
    MOVING = "moving"
    ARRIVED = "arrived"
    ELSEWHERE = "elsewhere"
    GONE = "gone"
    UNKNOWN = "unknown"


def states_of(found: Survey) -> dict[TP, MoveState]:
    groups = (
        (MoveState.WAITING, found.todo),
        (MoveState.MOVING, found.moving),
        (MoveState.ARRIVED, found.done),
        (MoveState.ELSEWHERE, found.foreign),
        (MoveState.GONE, found.gone),
    )
    return {move.tp: state for state, moves in groups for move in moves}


def bytes_moved(
    adding: Collection[int], leader: int | None, held: Mapping[int, int | None]
) -> tuple[int | None, int | None]:
    """(bytes on the new replicas, bytes that belong there) of one partition.

    `held`: bytes by broker, None for a broker that did not say. What follows from nothing known is
    None: a partition without a leader, or whose leader did not say, belongs nobody knows how much.
    """
    size = None if leader is None else held.get(leader)
    if size is None:
        return None, None
    arrived = [held.get(broker, 0) for broker in adding]
    if any(each is None for each in arrived):
        return None, size * len(adding)
    return sum(min(each or 0, size) for each in arrived), size * len(adding)


def named(moves: Sequence[Move], most: int = 5) -> str:
    """`orders-0, orders-1 and 3 more`."""
    params = name_params(moves, most)
    return f"{params['names']}" + (f" and {params['more']} more" if params["more"] else "")


def name_params(moves: Sequence[Move], most: int = 5) -> dict[str, str | int]:
    """As sentences take them that name moves: the first `most`, and how many there are more."""
    names = [f"{move.tp.topic}-{move.tp.partition}" for move in moves[:most]]
    return {"names": ", ".join(names), "more": len(moves) - len(names)}


def next_batch(
    found: Survey, *, batch_size: int, live: Collection[int]
) -> tuple[tuple[Move, ...], tuple[int, ...]]:
    """(what to submit now, so that at most `batch_size` partitions move at once; brokers that are
    waited for). The cluster refuses whatever names a broker that is not up.
    """
    ready = [move for move in found.todo if set(move.after) <= set(live)]
    away = {broker for move in found.todo for broker in move.after} - set(live)
    room = max(batch_size - len(found.moving), 0)
    return tuple(ready[:room]), tuple(sorted(away))


def bytes_arrived(moves: Sequence[Move], sizes: Mapping[tuple[int, TP], int]) -> tuple[int, int]:
    """(bytes already on the new brokers, bytes to move); never more than asked.

    Moves whose size the plan did not know count on neither side.
    """
    arrived = sum(
        min(sizes.get((broker, move.tp), 0), move.size_bytes or 0)
        for move in moves
        for broker in move.adding
    )
    return arrived, sum(move.bytes_to_move for move in moves)
