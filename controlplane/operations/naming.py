"""What a plan names beside its own subject, cut to what its reader sees. Pure.

A plan that deletes a topic reaches groups and ACLs that its maker may have no grant for. How many
they are is said to everybody, as nobody is to delete what others use without knowing; who they are,
to those who see them. Kept is all of it, so that a plan and its confirmation are compared by names.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from controlplane.common.grants import Area
from controlplane.common.words import counted

Sees = Callable[[Area, str], bool]
Row = dict[str, Any]
OF, NAMED = "of", "named"
"""Keys of kept rows that are not shown: the area of an extent's names, and a warning's names."""
NAMES_SAID_MAX = 5


def everything(_area: Area, _name: str) -> bool:
    return True


def naming_warning(
    row: Mapping[str, str], area: Area, names: Iterable[tuple[str, str]], noun: str
) -> Row:
    """A warning that ends with names: its text is how it begins.

    `names` are pairs of a name and how it is said, the most important first.
    """
    named = {"begin": row["text"], "area": area.value, "names": list(names), "noun": noun}
    whole: Row = {**row, NAMED: named}
    return {**whole, "text": _text(named, everything)}


def _text(named: Mapping[str, Any], sees: Sees) -> str:
    """All that are seen up to `NAMES_SAID_MAX`, and how many more there are."""
    area, names = Area(named["area"]), named["names"]
    said = [text for name, text in names if sees(area, name)][:NAMES_SAID_MAX]
    more = len(names) - len(said)
    if not said:
        return f"{named['begin']} {counted(more, named['noun'])}."
    rest = f" and {counted(more, 'more ' + named['noun'])}" if more else ""
    return f"{named['begin']} {', '.join(said)}{rest}."


def shown_impact(impact: Mapping[str, Any], sees: Sees) -> Row:
    """As REST shows it; of names that are not seen it says how many there are."""
    found = dict(impact)
    if "warnings" in impact:
        found["warnings"] = [_shown_warning(row, sees) for row in impact["warnings"]]
    if "blast_radius" in impact:
        found["blast_radius"] = [shown_extent(row, sees) for row in impact["blast_radius"]]
    return found


def _shown_warning(row: Mapping[str, Any], sees: Sees) -> Row:
    shown = {key: value for key, value in row.items() if key != NAMED}
    return shown if NAMED not in row else {**shown, "text": _text(row[NAMED], sees)}


def shown_extent(row: Mapping[str, Any], sees: Sees) -> Row:
    shown = {key: value for key, value in row.items() if key != OF}
    names, area = row["names"], row.get(OF)
    if names is None or not area:
        return {**shown, "hidden": 0}
    seen = [name for name in names if sees(Area(area), name)]
    return {**shown, "names": seen, "hidden": len(names) - len(seen)}
