"""Where replicas go, what that moves, and what remains to be done. Pure."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from controlplane.gateway.types import TP

Replicas = tuple[int, ...]
BALANCE_ROUNDS_MAX = 10_000


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
    def bytes_to_move(self) -> int:
        """What is known of it: 0 where the size is not."""
        return (self.size_bytes or 0) * len(self.adding)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLoad:
    """None where the broker did not say what it holds, or the size of what comes is not known."""

    id: int
    before_bytes: int | None
    after_bytes: int | None
    before_replicas: int | None
    after_replicas: int | None


class UnplannableError(Exception):
    """The wish cannot be met; the text says why."""


def spread(
    current: Mapping[TP, Replicas], *, targets: Collection[int], racks: Mapping[int, str | None]
) -> dict[TP, Replicas]:
    """Put every partition on `targets` only, moving as little as possible.

    A replica already on a target stays. A missing one goes to the target with the fewest
    replicas, preferring a rack that the partition has not got. At last, replicas are moved from
    the fullest to the emptiest target until they differ by one at most.
    """
    if not targets:
        raise UnplannableError("no target brokers were given")
    load = Counter(dict.fromkeys(sorted(targets), 0))
    for replicas in current.values():
        load.update(broker for broker in replicas if broker in targets)
    planned: dict[TP, Replicas] = {}
    for tp in sorted(current):
        if len(current[tp]) > len(load):
            raise UnplannableError(
                f"{tp.topic}-{tp.partition} has {len(current[tp])} replicas, but only"
                f" {len(load)} target brokers were given"
            )
        planned[tp] = _onto_targets(current[tp], load, racks)
    _balance(planned, load, racks)
    return planned


def _onto_targets(
    replicas: Replicas, load: Counter[int], racks: Mapping[int, str | None]
) -> Replicas:
    """Replace each replica that is on no target, at its own place in the order."""
    chosen = list(replicas)
    for index, broker in enumerate(replicas):
        if broker in load:
            continue
        taken = {b for b in chosen if b in load}
        used_racks = {racks.get(b) for b in taken}
        best = min(
            (b for b in load if b not in taken),
            key=lambda b: (racks.get(b) in used_racks, load[b], b),
        )
        chosen[index] = best
        load[best] += 1
    return tuple(chosen)


def _balance(
    planned: dict[TP, Replicas], load: Counter[int], racks: Mapping[int, str | None]
) -> None:
    for _ in range(BALANCE_ROUNDS_MAX):
        fullest = max(load, key=lambda b: (load[b], -b))
        emptiest = min(load, key=lambda b: (load[b], b))
        if load[fullest] - load[emptiest] <= 1:
            return
        tp = _movable(planned, fullest, emptiest, racks)
        if tp is None:
            return
        planned[tp] = tuple(emptiest if b == fullest else b for b in planned[tp])
        load[fullest] -= 1
        load[emptiest] += 1


def _movable(
    planned: Mapping[TP, Replicas],
    source: int,
    target: int,
    racks: Mapping[int, str | None],
) -> TP | None:
    """A partition that may go from source to target; followers first, racks kept apart."""
    candidates = [tp for tp, r in planned.items() if source in r and target not in r]
    if not candidates:
        return None

    def cost(tp: TP) -> tuple[bool, bool, TP]:
        others = {racks.get(b) for b in planned[tp] if b != source}
        return (racks.get(target) in others, planned[tp][0] == source, tp)

    return min(candidates, key=cost)


def moves_of(
    current: Mapping[TP, Replicas], wanted: Mapping[TP, Replicas], sizes: Mapping[TP, int]
) -> list[Move]:
    """Only what changes, in partition order."""
    return [
        Move(tp=tp, before=current[tp], after=wanted[tp], size_bytes=sizes.get(tp))
        for tp in sorted(wanted)
        if wanted[tp] != current[tp]
    ]


def broker_loads(
    moves: Sequence[Move],
    *,
    brokers: Collection[int],
    bytes_now: Mapping[int, int],
    replicas_now: Mapping[int, int],
) -> list[BrokerLoad]:
    """Before and after on every broker, all topics counted; brokers that did not say are not in
    `bytes_now` and `replicas_now`.
    """
    bytes_delta, replica_delta = Counter[int](), Counter[int]()
    unsized: set[int] = set()
    for move in moves:
        for broker in (*move.adding, *move.removing):
            sign = 1 if broker in move.adding else -1
            bytes_delta[broker] += sign * (move.size_bytes or 0)
            replica_delta[broker] += sign
            if move.size_bytes is None:
                unsized.add(broker)

    def load(broker: int) -> BrokerLoad:
        held, count = bytes_now.get(broker), replicas_now.get(broker)
        has_after = held is not None and broker not in unsized
        return BrokerLoad(
            id=broker,
            before_bytes=held,
            after_bytes=max((held or 0) + bytes_delta[broker], 0) if has_after else None,
            before_replicas=count,
            after_replicas=None if count is None else count + replica_delta[broker],
        )

    return [load(broker) for broker in sorted(brokers)]


def seconds_estimated(
    moves: Sequence[Move], throttle_bytes_per_s: int | None, *, batch_size: int
) -> float | None:
    """Time under the throttle, which bounds each broker both ways. None without one, and where
    the size of a move is not known.

    The slowest of three decides: the broker that receives most, the leader that sends most (it
    feeds every new replica of its partitions), and the moves' taking turns, `batch_size` at a time.
    """
    if not throttle_bytes_per_s or any(move.size_bytes is None for move in moves):
        return None
    inbound, outbound = Counter[int](), Counter[int]()
    for move in moves:
        outbound[move.before[0]] += move.bytes_to_move
        for broker in move.adding:
            inbound[broker] += move.size_bytes or 0
    total = sum(move.bytes_to_move for move in moves)
    bytes_in_a_row = max((*inbound.values(), *outbound.values(), total / batch_size))
    return bytes_in_a_row / throttle_bytes_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Where every planned move stands, by the brokers' own word."""

    done: tuple[Move, ...]
    moving: tuple[Move, ...]
    todo: tuple[Move, ...]
    foreign: tuple[Move, ...]


def survey(moves: Sequence[Move], *, now: Mapping[TP, Replicas], ongoing: Collection[TP]) -> Survey:
    """Sort the moves. `foreign`: the partition has replicas that the plan never spoke of."""
    done, moving, todo, foreign = [], [], [], []
    for move in moves:
        replicas = now.get(move.tp)
        if move.tp in ongoing:
            moving.append(move)
        elif replicas == move.after:
            done.append(move)
        elif replicas == move.before:
            todo.append(move)
        else:
            foreign.append(move)
    return Survey(done=tuple(done), moving=tuple(moving), todo=tuple(todo), foreign=tuple(foreign))


def next_batch(found: Survey, *, batch_size: int) -> tuple[Move, ...]:
    """What to submit now, so that at most `batch_size` partitions move at once."""
    return found.todo[: max(batch_size - len(found.moving), 0)]


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
