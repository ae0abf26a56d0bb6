"""The form of a runbook: one Markdown file, parsed strictly. Pure.

Front matter, a title, and sections in a fixed order. Two fenced blocks are more than text: `check`
names a question that only reads, `act` a kind of operation of which a plan is made. Their lines are
`key: value`, a value being JSON or a bare word; `{group}` is filled in when it runs, and
`{for_s=3600}` is a blank that has an answer already.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, NoReturn

KEYS = ("id", "alerts", "severity", "owner", "last_verified", "est_time", "automation")
SEVERITIES = ("page", "ticket", "none")
SECTIONS = ("Meaning", "Impact", "First five minutes", "Decision", "Act", "Verify", "Do not")
"""In this order; sections of other names may stand between Impact and Verify."""
FREE_FROM, FREE_TO = "Impact", "Verify"
OUTCOMES = ("ok", "bad", "unknown")
TABLE_HEAD = ["check", "outcome", "then"]
FILE_BYTES_MAX = 64 * 1024
BLOCKS_MAX = 30
BLANK = re.compile(r"\{([a-z][a-z_]*)(?:=([^{}]*))?\}")
_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_FENCE = re.compile(r"^```(\w*)[ \t]*(.*)$")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


class RunbookError(Exception):
    """The file is not in the form; says where."""

    def __init__(self, file: str, line: int, text: str) -> None:
        super().__init__(f"{file}:{line}: {text}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A check or an act. `name` is of the registry of checks, or of the kind of operation.

    `number` counts checks and acts each for themselves, from 1.
    """

    is_act: bool
    number: int
    name: str
    title: str
    values: Mapping[str, Any]
    line: int

    @property
    def blanks(self) -> dict[str, Any]:
        """What is to be filled in, by name; with its answer where it has one, else None."""
        return dict(_blanks_in(self.values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One row: when this check comes out so, then that."""

    check: str
    outcome: str
    then: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """`parts` are text and blocks in the order of the file."""

    title: str
    parts: tuple[str | Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runbook:
    """`est_minutes`: what it takes who knows it; `automation` 0 (text) to 3 (by itself)."""

    id: str
    title: str
    alerts: tuple[str, ...]
    severity: str
    owner: str
    last_verified: date | None
    est_minutes: int
    automation: int
    sections: tuple[Section, ...]
    decisions: tuple[Decision, ...]
    links: tuple[str, ...]

    @property
    def blocks(self) -> list[Block]:
        return [part for each in self.sections for part in each.parts if isinstance(part, Block)]

    @property
    def checks(self) -> list[Block]:
        return [block for block in self.blocks if not block.is_act]

    @property
    def acts(self) -> list[Block]:
        return [block for block in self.blocks if block.is_act]

    @property
    def anchors(self) -> frozenset[str]:
        return frozenset(anchor(each.title) for each in self.sections)


def anchor(title: str) -> str:
    """As a page of GitHub names a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def parse(text: str, file: str) -> Runbook:
    """The runbook of a file.

    Raises:
        RunbookError: it is not in the form; the first thing that is wrong.
    """
    return _Parser(text, file).runbook()


class _Parser:
    def __init__(self, text: str, file: str) -> None:
        self._file, self._lines = file, text.split("\n")
        self._checks = self._acts = 0
        if len(text.encode()) > FILE_BYTES_MAX:
            self._fail(1, f"is longer than {FILE_BYTES_MAX} bytes")

    def _fail(self, line: int, text: str) -> NoReturn:
        raise RunbookError(self._file, line, text)

    def runbook(self) -> Runbook:
        front, at = self._front()
        while at < len(self._lines) and not self._lines[at].strip():
            at += 1
        if at == len(self._lines) or not self._lines[at].startswith("# "):
            self._fail(at + 1, "a title (# …) follows the front matter")
        title = self._lines[at][2:].strip()
        sections = self._sections(at + 1)
        found = Runbook(
            **self._checked(front),
            title=title,
            sections=tuple(sections),
            decisions=tuple(self._decisions(sections)),
            links=tuple(_LINK.findall("\n".join(self._lines))),
        )
        self._check_decisions(found)
        return found

    def _front(self) -> tuple[dict[str, tuple[str, int]], int]:
        """{key: (value, line)}, and where the rest begins."""
        if self._lines[0] != "---":
            self._fail(1, "the file begins with --- and its front matter")
        found: dict[str, tuple[str, int]] = {}
        for index, line in enumerate(self._lines[1:], start=1):
            if line == "---":
                missing = [key for key in KEYS if key not in found]
                if missing:
                    self._fail(index + 1, f"the front matter lacks {', '.join(missing)}")
                return found, index + 1
            key, colon, value = line.partition(":")
            if not colon or key not in KEYS or key in found:
                self._fail(index + 1, f"{line!r} is none of {', '.join(KEYS)}, each once")
            found[key] = (value.strip(), index + 1)
        raise RunbookError(self._file, len(self._lines), "the front matter has no end (---)")

    def _checked(self, front: dict[str, tuple[str, int]]) -> dict[str, Any]:
        def said(key: str, pattern: str, form: str) -> str:
            value, line = front[key]
            if not re.fullmatch(pattern, value):
                self._fail(line, f"{key} is {form}, not {value!r}")
            return value

        name = said("id", _ID.pattern, "small letters, digits and hyphens")
        if f"{name}.md" != self._file:
            self._fail(front["id"][1], f"the id {name} is not the file's name")
        alerts = said("alerts", r"\[[\w\-, ]*\]", "[a list, of names]")[1:-1]
        day = said("last_verified", r"\d{4}-\d\d-\d\d|never", "a day like 2026-01-31, or never")
        try:
            verified = None if day == "never" else date.fromisoformat(day)
        except ValueError:
            self._fail(front["last_verified"][1], f"there is no day {day}")
        return {
            "id": name,
            "alerts": tuple(each.strip() for each in alerts.split(",") if each.strip()),
            "severity": said("severity", "|".join(SEVERITIES), f"one of {', '.join(SEVERITIES)}"),
            "owner": said("owner", r"\w[\w .-]{0,60}", "a team"),
            "last_verified": verified,
            "est_minutes": int(said("est_time", r"\d{1,3} min", "like 15 min").split()[0]),
            "automation": int(said("automation", "[0-3]", "0, 1, 2 or 3")),
        }

    # -- sections ---------------------------------------------------------------------------
    def _sections(self, at: int) -> list[Section]:
        found: list[Section] = []
        title, begin, fenced = "", at, False
        for index in range(at, len(self._lines) + 1):
            line = self._lines[index] if index < len(self._lines) else None
            if line is not None and line.startswith("```"):
                fenced = not fenced
            if line is not None and (fenced or not line.startswith("## ")):
                continue
            if title:
                found.append(Section(title=title, parts=tuple(self._parts(begin, index))))
            elif any(text.strip() for text in self._lines[begin:index]):
                self._fail(begin + 1, "text stands before the first section")
            if line is not None:
                title, begin = line[3:].strip(), index + 1
        if fenced:
            self._fail(len(self._lines), "a ``` has no end")
        self._check_order([each.title for each in found], at)
        return found

    def _check_order(self, titles: list[str], line: int) -> None:
        known = [title for title in titles if title in SECTIONS]
        if known != list(SECTIONS):
            self._fail(line, f"the sections are {', '.join(SECTIONS)}, in this order, each once")
        free = range(titles.index(FREE_FROM), titles.index(FREE_TO))
        for index, title in enumerate(titles):
            if title not in SECTIONS and index not in free:
                self._fail(line, f"{title!r} stands between {FREE_FROM} and {FREE_TO} or nowhere")

    def _parts(self, begin: int, end: int) -> Iterator[str | Block]:
        text: list[str] = []
        index = begin
        while index < end:
            fence = _FENCE.match(self._lines[index])
            if fence is None:
                text.append(self._lines[index])
                index += 1
                continue
            close = next((n for n in range(index + 1, end) if self._lines[n] == "```"), None)
            if close is None:
                self._fail(index + 1, "a ``` has no end")
            if fence[1] in {"check", "act"}:
                if joined := "\n".join(text).strip():
                    yield joined
                text = []
                yield self._block(fence[1] == "act", fence[2].strip(), index, close)
            else:
                text += self._lines[index : close + 1]
            index = close + 1
        if joined := "\n".join(text).strip():
            yield joined

    def _block(self, is_act: bool, name: str, begin: int, end: int) -> Block:
        if not re.fullmatch(r"[a-z][a-z0-9_.\-]{0,59}", name):
            self._fail(begin + 1, f"{name!r} names no {'kind' if is_act else 'check'}")
        values: dict[str, Any] = {}
        for index in range(begin + 1, end):
            line = self._lines[index]
            key, colon, value = line.partition(":")
            if not colon or not re.fullmatch(r"[a-z][a-z_]*", key) or key in values:
                self._fail(index + 1, f"{line!r} is no `key: value`, or is there already")
            values[key] = self._value(value.strip(), index + 1)
        title = values.pop("title", None)
        if not isinstance(title, str) or not title:
            self._fail(begin + 1, "the block needs a title")
        if self._checks + self._acts == BLOCKS_MAX:
            self._fail(begin + 1, f"has more than {BLOCKS_MAX} blocks")
        self._acts, self._checks = self._acts + is_act, self._checks + (not is_act)
        return Block(
            is_act=is_act,
            number=self._acts if is_act else self._checks,
            name=name,
            title=str(title),
            values=values,
            line=begin + 1,
        )

    def _value(self, text: str, line: int) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            if text[:1] in {'"', "["} or (text[:1] == "{" and not BLANK.match(text)):
                self._fail(line, f"{text!r} is no JSON")
            return text or self._fail(line, "has no value")

    # -- decisions --------------------------------------------------------------------------
    def _decisions(self, sections: list[Section]) -> Iterator[Decision]:
        """Rows of the table in the section Decision; a runbook without checks may have none."""
        (section,) = (each for each in sections if each.title == "Decision")
        lines = [
            line for part in section.parts if isinstance(part, str) for line in part.split("\n")
        ]
        rows = [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in lines
            if line.startswith("|")
        ]
        if not rows:
            return
        if [cell.lower() for cell in rows[0]] != TABLE_HEAD or len(rows) < 3:
            self._fail(1, "the table of Decision has the columns Check, Outcome, Then, and rows")
        for row in rows[2:]:
            if len(row) != len(TABLE_HEAD) or row[1] not in OUTCOMES or not row[2]:
                self._fail(1, f"no row of Decision: {' | '.join(row)}")
            yield Decision(check=row[0].strip("`"), outcome=row[1], then=row[2])

    def _check_decisions(self, found: Runbook) -> None:
        names = {block.name for block in found.checks}
        for row in found.decisions:
            if row.check not in names:
                self._fail(1, f"Decision goes by {row.check}, which is no check of the file")
        if found.checks and not found.decisions:
            self._fail(1, "there are checks, and no table in Decision says what follows")
        if found.automation >= 1 and not found.checks:
            self._fail(1, f"automation {found.automation} needs checks")
        if (found.automation >= 2) != bool(found.acts):
            self._fail(1, f"automation {found.automation} does not go with {len(found.acts)} acts")


def _blanks_in(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, str):
        for found in BLANK.finditer(value):
            yield found[1], None if found[2] is None else _answer(found[2])
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _blanks_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from _blanks_in(each)


def _answer(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def filled(value: Any, given: Mapping[str, Any]) -> Any:
    """`value` with its blanks filled in.

    A string that is one blank becomes what is given, of its own type.

    Raises:
        KeyError: a blank has no answer; names it.
    """
    if isinstance(value, str):
        whole = BLANK.fullmatch(value)
        if whole:
            return _given(whole, given)
        return BLANK.sub(lambda found: str(_given(found, given)), value)
    if isinstance(value, Mapping):
        return {key: filled(each, given) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, given) for each in value]
    return value


def first_act(acts: Iterable[Block], context: Mapping[str, Any]) -> tuple[Block, Any] | None:
    """The first act that what is known fills in wholly, with its values; None: none is."""
    for block in acts:
        try:
            return block, filled(block.values, context)
        except KeyError:
            continue
    return None


def _given(found: "re.Match[str]", given: Mapping[str, Any]) -> Any:
    if given.get(found[1]) is not None:
        return given[found[1]]
    if found[2] is None:
        raise KeyError(found[1])
    return _answer(found[2])
