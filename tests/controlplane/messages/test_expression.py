"""Filter expressions: what they mean, and that no text makes them cost more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.messages.expression import (
    EvaluationError,
    ExpressionError,
    is_match,
    parse,
)

MESSAGE = {
    "key": "order-17",
    "value": {
        "order": {"total": 120.5, "lines": [{"sku": "a"}, {"sku": "b"}], "paid": True},
        "tags": ["eu", "new"],
        "none": None,
        "odd name": 1,
    },
    "headers": {"region": "eu", "trace-id": "abc"},
    "partition": 3,
    "offset": 17,
    "timestamp": 1_700_000_000_000,
}


@pytest.mark.parametrize(
    "text",
    [
        'key == "order-17"',
        "key == 'order-17'",
        'key startsWith "order" && key endsWith "17"',
        "value.order.total > 100",
        "value.order.total >= 120.5 and value.order.total <= 120.5",
        'value.order.lines[1].sku == "b"',
        'value["odd name"] == 1',
        "value.order.paid",
        "!(value.order.total < 0) && true",
        'not exists(value.nothing.at["all"][3])',
        "value.none == null",
        "value.missing == null",
        'value.tags contains "new"',
        'headers["trace-id"] == "abc"',
        'headers.trace-id contains "b"',
        "size(value.order.lines) == 2",
        "size(value.nothing) == 0",
        'lower("EU") == headers.region',
        "partition == 3 || partition == 4",
        "offset > 10 && offset < 20",
        'timestamp > "2023-11-14T00:00:00Z"',
        '"2023-11-15T00:00:00+01:00" > timestamp',
        "value.order.paid != 1",
        'false || (key contains "7" && !(key contains "x"))',
        'value.order.total != "120.5"',
        "value.missing < 3 || true",
    ],
)
def test_what_is_true(text):
    assert is_match(parse(text), MESSAGE) is True


@pytest.mark.parametrize(
    "text",
    ['key == "other"', "value.missing > 1", "value.order.paid == 1", "offset == -17", "null == 0"],
)
def test_what_is_false(text):
    assert is_match(parse(text), MESSAGE) is False


@pytest.mark.parametrize(
    "text", ["key", "value.order.total", "key > 3", "lower(offset) == 1", "!key", "key && true",
             'offset contains "1"']
)  # fmt: skip
def test_what_cannot_be_judged(text):
    with pytest.raises(EvaluationError):
        is_match(parse(text), MESSAGE)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("key ==", 6),
        ("key == 'a", 7),
        ("key = 'a'", 4),
        ("secret == 1", 0),
        ("value.", 6),
        ("value[key]", 6),
        ("value[-1] == 1", 6),
        ("(key == 'a'", 11),
        ("key == 'a')", 10),
        ("key 'a'", 4),
        ("timestamp > 'yesterday'", 10),
        ("timestamp > '2023-11-14T00:00:00'", 10),
        ("eval('1')", 0),
        ("value.__class__()", 15),
        ("1" * 41 + " == 1", 0),
        ("(" * 30 + "true" + ")" * 30, 21),
        ("!" * 40 + "true", 21),
        (" || ".join(["true"] * 120), None),
        ("x" * 1001, 1000),
    ],
)
def test_what_is_no_expression_says_where(text, position):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert str(caught.value)
    if position is not None:
        assert caught.value.position == position


def judged(text):
    """Whether it is an expression, and if so what it says; where it is wrong otherwise."""
    try:
        return is_match(parse(text), MESSAGE)
    except ExpressionError as error:
        return error.position
    except EvaluationError:
        return False


@given(st.text(alphabet="keyvalu.[]()!&|=<>'\"0123456789 -_\\andor", max_size=120))
def test_any_text_is_an_expression_or_refused(text):
    assert 0 <= judged(text) <= len(text) + 1


def test_names_of_the_language_are_all_there_is():
    """Nothing of Python is reachable: a step finds fields of dicts and items of lists alone."""
    assert is_match(parse("exists(value.order.keys) || exists(key.upper)"), MESSAGE) is False
