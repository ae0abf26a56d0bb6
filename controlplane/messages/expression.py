"""Filter expressions: a small language of our own, parsed to a tree and walked. Pure.

    value.order.total > 100 && (headers["region"] == "eu" || !(key contains "test"))

Paths begin at `key`, `value`, `headers`, `partition`, `offset` or `timestamp`; fields follow by
`.name` or `["name"]`, items of lists by `[0]`. What a path does not find is null. Operators:
`== != < <= > >= contains startsWith endsWith`, `! && ||` (also `not and or`); functions `size(x)`,
`lower(x)`, `exists(x)`. There are no loops, no regular expressions and no names but these, so an
evaluation costs at most its tree times what the values are long.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from controlplane.messages.bounds import (
    EXPRESSION_DEPTH_MAX,
    EXPRESSION_MAX,
    EXPRESSION_NODES_MAX,
)

ROOTS = ("key", "value", "headers", "partition", "offset", "timestamp")
FUNCTIONS = ("size", "lower", "exists")
TEXT_OPERATORS = ("contains", "startsWith", "endsWith")
COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")
WORDS = {"and": "&&", "or": "||", "not": "!"}
CONSTANTS: Mapping[str, Any] = {"true": True, "false": False, "null": None}
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)
      | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<name>[A-Za-z_][A-Za-z0-9_-]*)
      | (?P<sign>==|!=|<=|>=|&&|\|\||[<>!().\[\],])
    )""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
NUMBER_DIGITS_MAX = 40


class ExpressionError(ValueError):
    """What is wrong with the text, and where: `position` counts characters from 0."""

    def __init__(self, text: str, position: int) -> None:
        super().__init__(text)
        self.position = position


class EvaluationError(ValueError):
    """This message cannot be judged: it is no match, and counted."""


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any


@dataclass(frozen=True, slots=True)
class Path:
    root: str
    steps: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    operand: "Node"


@dataclass(frozen=True, slots=True)
class Not:
    operand: "Node"


@dataclass(frozen=True, slots=True)
class Compared:
    operator: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Joined:
    """All of `parts` by `&&`, any of them by `||`."""

    operator: str
    parts: tuple["Node", ...]


Node = Literal | Path | Call | Not | Compared | Joined


def parse(text: str) -> Node:
    """Raises ExpressionError, with where the text is wrong."""
    if len(text) > EXPRESSION_MAX:
        raise ExpressionError(
            f"An expression has at most {EXPRESSION_MAX} characters.", EXPRESSION_MAX
        )
    parser = _Parser(_tokens(text), len(text))
    found = parser.any_of(0)
    left = parser.peek()
    if left is not None:
        raise ExpressionError(f"{left.text} is not expected here.", left.at)
    return found


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            place = len(text) - len(text[at:].lstrip())
            raise ExpressionError(f"{text[place]!r} is not expected here.", place)
        kind = str(match.lastgroup)
        word = match.group(kind)
        if kind == "name" and word in WORDS:
            kind, word = "sign", WORDS[word]
        found.append(Token(kind, word, match.start(match.lastgroup or 0)))
        at = match.end()
    return found


class _Parser:
    def __init__(self, tokens: Sequence[Token], length: int) -> None:
        self._tokens, self._length, self._next, self._nodes = tokens, length, 0, 0

    def peek(self) -> Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def any_of(self, depth: int) -> Node:
        return self._joined("||", self._all_of, depth)

    def _all_of(self, depth: int) -> Node:
        return self._joined("&&", self._unary, depth)

    def _joined(self, sign: str, part: Callable[[int], Node], depth: int) -> Node:
        parts = [part(depth)]
        while self._took(sign):
            parts.append(part(depth))
        return parts[0] if len(parts) == 1 else self._made(Joined(sign, tuple(parts)))

    def _unary(self, depth: int) -> Node:
        self._check(depth)
        if self._took("!"):
            return self._made(Not(self._unary(depth + 1)))
        return self._compared(depth)

    def _compared(self, depth: int) -> Node:
        left = self._operand(depth)
        token = self.peek()
        if token is None or token.text not in (*COMPARISONS, *TEXT_OPERATORS):
            return left
        self._next += 1
        right = self._operand(depth)
        return self._made(Compared(token.text, *_in_ms(left, right, token.at)))

    def _operand(self, depth: int) -> Node:
        self._check(depth)
        token = self._take("A value or a path")
        match token.kind:
            case "number":
                return self._made(Literal(_number(token)))
            case "string":
                return self._made(Literal(_unquoted(token.text)))
            case "name" if token.text in CONSTANTS:
                return self._made(Literal(CONSTANTS[token.text]))
            case "name" if token.text in FUNCTIONS:
                self._expect("(")
                operand = self.any_of(depth + 1)
                self._expect(")")
                return self._made(Call(token.text, operand))
            case "name" if token.text in ROOTS:
                return self._made(Path(token.text, self._steps()))
        if token.text == "(":
            found = self.any_of(depth + 1)
            self._expect(")")
            return found
        offered = ", ".join(ROOTS)
        raise ExpressionError(
            f"{token.text} is not expected here; paths begin with {offered}.", token.at
        )

    def _steps(self) -> tuple[str | int, ...]:
        found: list[str | int] = []
        while (token := self.peek()) is not None and token.text in {".", "["}:
            self._next += 1
            step = self._take("A field")
            if token.text == "." and step.kind == "name":
                found.append(step.text)
            elif token.text == "[" and step.kind == "string":
                found.append(_unquoted(step.text))
                self._expect("]")
            elif token.text == "[" and step.kind == "number" and step.text.isdigit():
                found.append(int(step.text[:9]))
                self._expect("]")
            else:
                raise ExpressionError(f"{step.text} is no field.", step.at)
            self._count(step)
        return tuple(found)

    def _took(self, sign: str) -> bool:
        token = self.peek()
        if token is None or token.kind != "sign" or token.text != sign:
            return False
        self._next += 1
        return True

    def _take(self, wanted: str) -> Token:
        token = self.peek()
        if token is None:
            raise ExpressionError(f"{wanted} is expected at the end.", self._length)
        self._next += 1
        return token

    def _expect(self, sign: str) -> None:
        token = self._take(sign)
        if token.text != sign or token.kind != "sign":
            raise ExpressionError(f"{sign} is expected, not {token.text}.", token.at)

    def _made(self, node: Node) -> Node:
        self._count(self.peek())
        return node

    def _count(self, token: Token | None) -> None:
        self._nodes += 1
        if self._nodes > EXPRESSION_NODES_MAX:
            at = self._length if token is None else token.at
            raise ExpressionError(f"More than {EXPRESSION_NODES_MAX} parts.", at)

    def _check(self, depth: int) -> None:
        if depth > EXPRESSION_DEPTH_MAX:
            token = self.peek()
            at = self._length if token is None else token.at
            raise ExpressionError(f"Nested more than {EXPRESSION_DEPTH_MAX} deep.", at)


def _number(token: Token) -> int | float:
    if len(token.text) > NUMBER_DIGITS_MAX:
        raise ExpressionError(f"A number has at most {NUMBER_DIGITS_MAX} digits.", token.at)
    return int(token.text) if token.text.lstrip("-").isdigit() else float(token.text)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1])


def _in_ms(left: Node, right: Node, at: int) -> tuple[Node, Node]:
    """A time in ISO 8601 beside `timestamp`, in ms like that."""
    is_time = Path("timestamp", ())
    if left == is_time and isinstance(right, Literal) and isinstance(right.value, str):
        return left, Literal(_ms(right.value, at))
    if right == is_time and isinstance(left, Literal) and isinstance(left.value, str):
        return Literal(_ms(left.value, at)), right
    return left, right


def _ms(text: str, at: int) -> int:
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is not None:
            return round(found.timestamp() * 1000)
    except (ValueError, OverflowError):
        pass
    raise ExpressionError(f"{text} is no time with a zone, as 2026-11-26T12:00:00Z is.", at)


# -- evaluation ---------------------------------------------------------------------------------
def is_match(node: Node, message: Mapping[str, Any]) -> bool:
    """Whether the message, by the names of ROOTS, is meant.

    Raises:
        EvaluationError: the expression does not end in true or false for it, or compares what has
            no order.
    """
    found = _value(node, message)
    if not isinstance(found, bool):
        raise EvaluationError("the expression is neither true nor false")
    return found


def _value(node: Node, message: Mapping[str, Any]) -> Any:
    match node:
        case Literal(value):
            found = value
        case Path(root, steps):
            found = _at(message.get(root), steps)
        case Call(name, operand):
            found = _called(name, _value(operand, message))
        case Not(operand):
            found = not is_match(operand, message)
        case Compared(sign, left, right):
            found = _compare(sign, _value(left, message), _value(right, message))
        case Joined("&&", parts):
            found = all(is_match(part, message) for part in parts)
        case Joined(_, parts):
            found = any(is_match(part, message) for part in parts)
    return found


def _at(value: Any, steps: Sequence[str | int]) -> Any:
    for step in steps:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _called(name: str, value: Any) -> Any:
    match name:
        case "exists":
            return value is not None
        case "lower":
            if isinstance(value, str):
                return value.lower()
        case "size":
            if value is None:
                return 0
            if isinstance(value, str | list | dict):
                return len(value)
    raise EvaluationError(f"{name} of what it is not made for")


def _compare(sign: str, left: Any, right: Any) -> bool:
    if sign in {"==", "!="}:
        # True is no 1 here, though it is in Python.
        is_same = isinstance(left, bool) == isinstance(right, bool) and left == right
        return is_same == (sign == "==")
    if left is None or right is None:
        return False
    if sign in TEXT_OPERATORS:
        return _text_compared(sign, left, right)
    are_numbers = _is_number(left) and _is_number(right)
    if not are_numbers and not (isinstance(left, str) and isinstance(right, str)):
        raise EvaluationError(f"{sign} compares two numbers or two texts")
    return bool(_ORDERS[sign](left, right))


_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _text_compared(sign: str, left: Any, right: Any) -> bool:
    if sign == "contains" and isinstance(left, list):
        return any(_compare("==", item, right) for item in left)
    if not isinstance(left, str) or not isinstance(right, str):
        raise EvaluationError(f"{sign} compares two texts")
    match sign:
        case "contains":
            return right in left
        case "startsWith":
            return left.startswith(right)
        case _:
            return left.endswith(right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
