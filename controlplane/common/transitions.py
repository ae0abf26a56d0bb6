"""A state machine as a table of legal moves. Pure; the tables are in `operations/states`."""

from collections.abc import Mapping
from dataclasses import dataclass


class IllegalTransitionError(Exception):
    """A programmer's error: the table has no such move."""


@dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """The states of one kind of thing, each with those that may come next."""

    what: str
    table: Mapping[str, frozenset[str]]

    @property
    def states(self) -> tuple[str, ...]:
        return tuple(self.table)

    @property
    def choices(self) -> list[tuple[str, str]]:
        """As Django's fields and DRF's take them."""
        return [(state, state) for state in self.table]

    def check(self, before: str, after: str) -> None:
        """Pass when the move is legal.

        Raises:
            IllegalTransitionError: it is not; a state does not move to itself either.
        """
        if after not in self.table[before]:
            raise IllegalTransitionError(f"{self.what}: {before} -> {after}")

    def sources(self, after: str) -> frozenset[str]:
        """The states from which a thing may move to this one.

        Raises:
            IllegalTransitionError: there are none.
        """
        found = frozenset(before for before, nexts in self.table.items() if after in nexts)
        if not found:
            raise IllegalTransitionError(f"{self.what}: nothing moves to {after}")
        return found
