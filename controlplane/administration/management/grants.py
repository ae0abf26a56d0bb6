"""Grants as options of `manage.py`: `--grant operator topic-prefix=team-a- cluster=main`."""

from argparse import ArgumentParser
from typing import Any

from controlplane.common.grants import GRANT_ROLES, Match, Over
from controlplane.common.problems import field_problem

Row = dict[str, Any]
_OVER = {over.value: over for over in (Over.TOPIC, Over.GROUP)}
_PREFIX = "-prefix"


def add_grants(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--grant",
        nargs="+",
        action="append",
        metavar=("ROLE", "WHERE"),
        help=f"{' or '.join(GRANT_ROLES)}, then what it is over: topic=, topic-prefix=, group= or"
        " group-prefix= with a name, topics or groups for all of them, nothing for all of a"
        " cluster; and cluster= or cluster-prefix= for which clusters. More than once for more",
    )


def grant_rows(given: list[list[str]] | None) -> list[Row]:
    """Bodies as REST takes them. Raises Invalid: a word that is none of an option's."""
    return [_row(index, words) for index, words in enumerate(given or [])]


def _row(index: int, words: list[str]) -> Row:
    role, *where = words
    row: Row = {"role": role}
    for word in where:
        found = _part(word)
        if found is None or set(found) & set(row):
            raise field_problem(
                f"/grant/{index}", f"{word} says nothing of a grant, or says it again."
            )
        row |= found
    return row


def _part(word: str) -> Row | None:
    """What one word says; None when that is nothing. A name may hold `=` itself."""
    what, has_name, name = word.partition("=")
    if not has_name:
        over = _OVER.get(what.removesuffix("s")) if what.endswith("s") else None
        return {"over": over.value} if over else None
    match = Match.PREFIX if what.endswith(_PREFIX) else Match.LITERAL
    pattern = {"match": match.value, "name": name}
    thing = what.removesuffix(_PREFIX)
    if thing == "cluster":
        return {"clusters": pattern}
    return {"over": _OVER[thing].value, "names": pattern} if thing in _OVER else None
