"""Who is asking: Kafka's principal, a type and a name."""

from __future__ import annotations

from typing import Final, NamedTuple

USER_TYPE: Final = "User"


class Principal(NamedTuple):
    """An authenticated identity, written `User:alice`."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"

    @classmethod
    def user(cls, name: str) -> Principal:
        return cls(USER_TYPE, name)

    @classmethod
    def parse(cls, text: str) -> Principal:
        """Read `User:alice`; the name may hold colons. ValueError when the shape is wrong."""
        kind, separator, name = text.partition(":")
        if not separator or not kind or not name:
            raise ValueError(f"expected a principal like User:alice, got {text!r}")
        return cls(kind, name)


ANONYMOUS: Final = Principal.user("ANONYMOUS")
"""The principal of a connection on a listener without authentication."""

EVERYONE: Final = Principal.user("*")
"""The principal that an ACL names when it concerns every user."""


def parse_super_users(text: str) -> frozenset[Principal]:
    """Read the value of `super.users`: principals separated by semicolons."""
    return frozenset(Principal.parse(part.strip()) for part in text.split(";") if part.strip())
