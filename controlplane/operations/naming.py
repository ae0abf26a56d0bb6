"""What a plan names beside its own subject, cut to what its reader sees. Pure.

A plan that deletes a topic reaches groups and ACLs that its maker may have no grant for. How many
they are is said to everybody, as nobody is to delete what others use without knowing; who they are,
to those who see them. Kept is all of it, so that a plan and its confirmation are compared by names.
"""

from collections.abc import Callable, Mapping
from typing import Any

from controlplane.common.grants import Area
from controlplane.common.sentences import Param
from controlplane.common.words import counted
from controlplane.operations.sentences import warning_text

Sees = Callable[[Area, str], bool]
Row = dict[str, Any]
OF, NAMED = "of", "named"
"""Keys of kept rows that are not shown: the area of an extent's names, and a warning's names."""
NAMES_SAID_MAX = 5


def everything(_area: Area, _name: str) -> bool:
    return True


def named_text(named: Mapping[str, Any], sees: Sees) -> Row:
    """The text, code and parameters of a warning: all that are seen up to `NAMES_SAID_MAX`, and how
    many more there are.
    """
    said, more = _seen(named, sees)
    code = named["sentence"] if said else f"{named['sentence']}/hidden"
    params: dict[str, Param] = {"names": ", ".join(said)} if said else {}
    params["more"] = more
    return {"text": warning_text(code, params), "text_code": code, "params": params}


def _seen(named: Mapping[str, Any], sees: Sees) -> tuple[list[str], int]:
    area, names = Area(named["area"]), named["names"]
    said = [text for name, text in names if sees(area, name)][:NAMES_SAID_MAX]
    return said, len(names) - len(said)


def _earlier_text(named: Mapping[str, Any], sees: Sees) -> Row:
    """Of a plan that was kept when warnings had no codes of sentences."""
    said, more = _seen(named, sees)
    if not said:
        return {"text": f"{named['begin']} {counted(more, named['noun'])}."}
    rest = f" and {counted(more, 'more ' + named['noun'])}" if more else ""
    return {"text": f"{named['begin']} {', '.join(said)}{rest}."}


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
    if NAMED not in row:
        return shown
    say = named_text if "sentence" in row[NAMED] else _earlier_text
    return {**shown, **say(row[NAMED], sees)}


def shown_extent(row: Mapping[str, Any], sees: Sees) -> Row:
    shown = {key: value for key, value in row.items() if key != OF}
    names, area = row["names"], row.get(OF)
    if names is None or not area:
        return {**shown, "hidden": 0}
    seen = [name for name in names if sees(Area(area), name)]
    return {**shown, "names": seen, "hidden": len(names) - len(seen)}
