"""Whether a cluster's brokers may go over to another connect string of their ZooKeeper. Pure.

Moved is by which names and ports an ensemble is reached, never what stands in it. So both strings
have to lead to one tree, and every agent that looks after one of the brokers has to live by the new
one already. No sentence here names a host or a string: tenants read them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from controlplane.common.words import counted

AGENTS_AWAY, AGENTS_UNKNOWN = "agents-away", "agents-unknown"
AGENTS_DISAGREE, NOTHING_TO_DO = "agents-disagree", "nothing-to-do"
ENSEMBLE_UNKNOWN, ENSEMBLE_DIFFERS = "ensemble-unknown", "ensemble-differs"
BROKERS_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """By which connect string a broker reaches ZooKeeper, and on which host it is."""

    broker: int
    host_id: str
    connect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """What a host's agent says: its connect string, the identity of the tree that this leads to
    (each empty where it does not say it), and whether it lives.
    """

    connect: str
    ensemble: str
    is_alive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """All brokers are to use `connect`; `moving` use another one yet, in their order."""

    connect: str
    ensemble: str
    moving: tuple[int, ...]


class CannotMoveError(Exception):
    """One sentence, and its code."""

    def __init__(self, code: str, text: str) -> None:
        self.code, self.text = code, text
        super().__init__(text)


def move_of(uses: Iterable[Use], agents: Mapping[str, Agent], tree: str) -> Move:
    """To the string of the agents of all these brokers' hosts.

    Args:
        uses: of every broker of the cluster.
        agents: by host id.
        tree: the identity of the tree that the control plane itself sees; empty: it has none.

    Raises:
        CannotMoveError: an agent is away, says nothing, sees another tree, or uses another string
            than the rest; or nothing is to be done.
    """
    rows = list(uses)
    if not tree:
        raise CannotMoveError(
            ENSEMBLE_UNKNOWN, "The ensemble has no identity yet, by which it could be known again."
        )
    for row in rows:
        _check(row, agents.get(row.host_id), tree)
    strings = Counter(agents[row.host_id].connect for row in rows)
    if len(strings) > 1:
        most = strings.most_common(1)[0][0]
        others = [row.broker for row in rows if agents[row.host_id].connect != most]
        raise CannotMoveError(
            AGENTS_DISAGREE,
            "The agents of its hosts do not all use the same connect string: another one than most"
            f" those of {_brokers(others)}. All have to be started with the new one first.",
        )
    connect = next(iter(strings), "")
    moving = tuple(row.broker for row in rows if row.connect != connect)
    if not moving:
        raise CannotMoveError(
            NOTHING_TO_DO, "Every broker uses the connect string of its host's agent."
        )
    return Move(connect=connect, ensemble=tree, moving=moving)


def objection(broker: int, agent: Agent | None, move: Move) -> str:
    """What is against giving this broker the string of the move now; empty: nothing."""
    try:
        found = _check(Use(broker=broker, host_id="", connect=""), agent, move.ensemble)
    except CannotMoveError as error:
        return error.text
    if found.connect != move.connect:
        return f"The agent of broker {broker}'s host uses another connect string by now."
    return ""


def _check(row: Use, agent: Agent | None, tree: str) -> Agent:
    """Raises CannotMoveError: nothing is proven by it."""
    whose = f"The agent of broker {row.broker}'s host"
    if agent is None or not agent.is_alive:
        raise CannotMoveError(AGENTS_AWAY, f"{whose} is away.")
    if not agent.connect or not agent.ensemble:
        raise CannotMoveError(
            AGENTS_UNKNOWN,
            f"{whose} does not say which ensemble it is connected to: it is of an earlier version,"
            " or has not read the ensemble's identity yet.",
        )
    if agent.ensemble != tree:
        raise CannotMoveError(ENSEMBLE_DIFFERS, f"{whose} is connected to another ensemble.")
    return agent


def _brokers(ids: list[int]) -> str:
    named = ", ".join(map(str, ids[:BROKERS_NAMED]))
    left = len(ids) - BROKERS_NAMED
    more = f" and {counted(left, 'other')}" if left > 0 else ""
    return f"{'broker' if len(ids) == 1 else 'brokers'} {named}{more}"
