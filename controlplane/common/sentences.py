"""Sentences by a code: a template and its parameters, from which the English is made. Pure.

Whoever says a sentence gives its code and its parameters, never its text: what REST says in English
and what a console in another language makes of the parameters cannot disagree. A template is as
`str.format` takes it, with these forms behind the colon:

- `{partitions:one=# partition|other=# partitions}`: by the number; `#` is the number. `none` is
  for 0, `unknown` for null. Other languages have the forms that their own plural rules name.
- `{state:failed=…|cancelled=…}`: by the text; `other` is for every other one, `#` is the text.
- `{listeners:each|…}`: the same for each part of a text with `, ` between its parts.

Without forms, and for `#`, a parameter is put as the end of its name says (`UNITS`); one that is
called as a group of phrases holds codes of that group, with `, ` between them.
"""

from collections.abc import Callable, Mapping
from string import Formatter

from controlplane.common.words import lasting, sized

Param = str | int | float | None
Params = Mapping[str, Param]
Phrases = Mapping[str, Mapping[str, str]]

EACH = "each"
NONE, ONE, OTHER, UNKNOWN = "none", "one", "other", "unknown"
BETWEEN = ", "
MIB = 2**20


def _rate(value: float) -> str:
    return f"{value / MIB:.4g} MiB/s"


UNITS: Mapping[str, Callable[[int], str]] = {
    "_bytes": sized,
    "_ms": lasting,
    "_s": lambda value: lasting(value * 1000),
    "_bytes_per_s": _rate,
}
"""By the end of a parameter's name, the longest that fits."""
MOMENT = "_at"
"""What a parameter's name ends with that holds a moment in UTC, as RFC 3339."""


class SentenceError(ValueError):
    """A template and what is put into it do not fit: a mistake in the source."""


def rendered(template: str, params: Params, phrases: Phrases | None = None) -> str:
    """The sentence in English.

    Raises:
        SentenceError: a parameter lacks, is not used, or has no form here.
    """
    parts, used = [], set()
    for literal, name, forms, _ in Formatter().parse(template):
        parts.append(literal)
        if name is None:
            continue
        if name not in params:
            raise SentenceError(f"{name!r} is not given for {template!r}")
        used.add(name)
        parts.append(_put(name, forms or "", params[name], phrases or {}))
    if unused := set(params) - used:
        raise SentenceError(f"nothing says {sorted(unused)} in {template!r}")
    return "".join(parts)


def names_in(template: str) -> set[str]:
    """What a template takes."""
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def _put(name: str, spec: str, value: Param, phrases: Phrases) -> str:
    each = spec.startswith(f"{EACH}|")
    forms = _forms(spec.removeprefix(f"{EACH}|"))
    if value is None:
        return _form(forms, (UNKNOWN,), name)
    if group := phrases.get(name):
        return BETWEEN.join(group[code] for code in str(value).split(BETWEEN))
    text = _moment(name, value) if isinstance(value, str) else _number(name, value)
    if not set(forms) - {UNKNOWN}:
        return text
    if each:
        rows = text.split(BETWEEN)
        return BETWEEN.join(_form(forms, _texts_keys(row), name).replace("#", row) for row in rows)
    keys = _texts_keys(value) if isinstance(value, str) else _numbers_keys(value)
    return _form(forms, keys, name).replace("#", text)


def _forms(spec: str) -> dict[str, str]:
    rows = (row.partition("=") for row in spec.split("|") if row)
    return {key: text for key, _, text in rows}


def _form(forms: Mapping[str, str], keys: tuple[str, ...], name: str) -> str:
    for key in keys:
        if key in forms:
            return forms[key]
    raise SentenceError(f"{name!r} has no form for {keys[0]!r}")


def _texts_keys(text: str) -> tuple[str, ...]:
    """A name that somebody gave may be `unknown`: that form is for null alone."""
    return (OTHER,) if text == UNKNOWN else (text, OTHER)


def _numbers_keys(value: float) -> tuple[str, ...]:
    if value == 0:
        return (NONE, OTHER)
    return (ONE, OTHER) if value == 1 else (OTHER,)


def _moment(name: str, text: str) -> str:
    """`2026-01-31 12:00 UTC` of `2026-01-31T12:00:00Z`; what is no moment stays as it is."""
    return f"{text[:16].replace('T', ' ')} UTC" if name.endswith(MOMENT) else text


def _number(name: str, value: float) -> str:
    fitting = [end for end in UNITS if name.endswith(end)]
    if not fitting:
        return str(value)
    return UNITS[max(fitting, key=len)](int(value))
