"""The form of a runbook: what is read of it, and every way in which it can be wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.runbooks.document import Block, RunbookError, anchor, filled, parse

GOOD = """---
id: a-case
alerts: [rule-one, PenstockOne]
severity: page
owner: platform
last_verified: 2026-11-24
est_time: 15 min
automation: 2
---
# A case

## Meaning
It is so.

## Impact
Nobody can write.

## Filling
A section of its own.

## First five minutes
Look.

```check group-lag
title: How much?
cluster: {cluster}
group: {group}
```

```
# text in a fence
## no heading
```

## Decision
| Check | Outcome | Then |
|---|---|---|
| `group-lag` | bad | Do it. |

## Act
```act offset.reset
title: Step over
cluster: {cluster}
group: {group}
partitions: [{"topic": "{topic}", "partition": "{partition}"}]
strategy: shift
value: {records=1}
```

## Verify
See [another](other.md#some-section).

## Do not
Panic.
"""


def parsed(text=GOOD, file="a-case.md"):
    return parse(text, file)


def test_everything_of_a_file_is_read():
    found = parsed()
    assert (found.id, found.title, found.severity) == ("a-case", "A case", "page")
    assert found.alerts == ("rule-one", "PenstockOne")
    assert (found.est_minutes, found.automation, found.owner) == (15, 2, "platform")
    assert found.last_verified.isoformat() == "2026-11-24"
    assert parsed(GOOD.replace("2026-11-24", "never")).last_verified is None
    (check,), (act,) = found.checks, found.acts
    assert (check.number, check.name, check.title) == (1, "group-lag", "How much?")
    assert check.blanks == {"cluster": None, "group": None}
    assert (act.number, act.blanks["records"], act.blanks["partition"]) == (1, 1, None)
    assert [(row.check, row.outcome, row.then) for row in found.decisions] == [
        ("group-lag", "bad", "Do it.")
    ]
    assert found.links == ("other.md#some-section",)
    assert "filling" in found.anchors
    (five,) = (each for each in found.sections if each.title == "First five minutes")
    assert [type(part) for part in five.parts] == [str, Block, str]
    assert "## no heading" in five.parts[2]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("---\nid: a-case", "id: a-case", "begins with ---"),
        ("id: a-case\n", "", "lacks id"),
        ("id: a-case", "id: other", "is not the file's name"),
        ("id: a-case", "id: A Case", "small letters"),
        ("id: a-case", "id: a-case\nid: a-case", "each once"),
        ("owner: platform", "owner:", "owner is a team"),
        ("owner: platform", "team: platform", "is none of"),
        ("severity: page", "severity: urgent", "severity is one of"),
        ("last_verified: 2026-11-24", "last_verified: soon", "a day like"),
        ("last_verified: 2026-11-24", "last_verified: 2026-13-40", "there is no day"),
        ("est_time: 15 min", "est_time: long", "like 15 min"),
        ("automation: 2", "automation: 4", "0, 1, 2 or 3"),
        ("automation: 2", "automation: 1", "does not go with 1 acts"),
        ("alerts: [rule-one, PenstockOne]", "alerts: rule-one", "a list"),
        ("automation: 2\n---", "automation: 2\n", "is none of"),
        ("# A case", "A case", "a title"),
        ("# A case\n", "# A case\nloose text\n", "before the first section"),
        ("## Meaning\nIt is so.\n", "", "in this order"),
        ("## Impact", "## Effect", "in this order"),
        ("## Do not", "## Do not\nX\n## After", "stands between"),
        ("## Meaning", "## Before\nX\n\n## Meaning", "stands between"),
        ("```check group-lag", "```check Group Lag", "names no check"),
        ("```act offset.reset", "```act", "names no kind"),
        ("title: How much?\n", "", "needs a title"),
        ("group: {group}\n```", "group {group}\n```", "is no `key: value`"),
        ("group: {group}\n```", "group: {group}\ngroup: x\n```", "is there already"),
        ('"{partition}"}]', '"{partition}"]', "is no JSON"),
        ("strategy: shift", "strategy:", "has no value"),
        ("value: {records=1}\n```", "value: {records=1}", "has no end"),
        (
            "| `group-lag` | bad | Do it. |",
            "| `group-lag` | awful | Do it. |",
            "no row of Decision",
        ),
        ("| `group-lag` | bad | Do it. |", "| `group-lag` | bad |", "no row of Decision"),
        ("| `group-lag` | bad | Do it. |", "| `disk-usage` | bad | Do it. |", "which is no check"),
        ("| Check | Outcome | Then |", "| If | Then | |", "has the columns"),
        (
            "| Check | Outcome | Then |\n|---|---|---|\n| `group-lag` | bad | Do it. |\n",
            "",
            "no table",
        ),
        ("It is so.", "x" * 70_000, "longer than"),
    ],
)
def test_what_is_not_in_the_form_is_refused_with_its_place(old, new, said):
    assert old in GOOD
    with pytest.raises(RunbookError, match=r"a-case\.md:") as caught:
        parsed(GOOD.replace(old, new, 1))
    assert said in str(caught.value)


def test_more_blocks_than_anybody_reads_are_refused():
    block = "```check group-lag\ntitle: x\ncluster: c\ngroup: g\n```\n"
    with pytest.raises(RunbookError, match="more than 30 blocks"):
        parsed(GOOD.replace("Look.", block * 31))


def outcome(text):
    """Whether it is a runbook, or why not; any other error fails the test."""
    try:
        return parsed(text).id
    except RunbookError as error:
        return str(error)


@given(st.text(max_size=300))
def test_no_text_does_more_than_be_refused(text):
    for whole in (text, GOOD + text, GOOD.replace("It is so.", text)):
        assert outcome(whole).startswith("a-case")


@given(st.text(alphabet='{}=a_1"[]:`#-\n|', max_size=60))
def test_no_block_does_more_than_be_refused(text):
    assert outcome(GOOD.replace("group: {group}", text)).startswith("a-case")


def test_blanks_are_filled_by_type_and_nowhere_twice():
    value = {"a": "{n=1}", "b": ["{group}", "of {group}"], "c": 5, "d": '{x={"k": 1}}'}
    found = filled({key: value[key] for key in "abc"}, {"group": "{n}"})
    assert found == {"a": 1, "b": ["{n}", "of {n}"], "c": 5}
    assert filled("{n=1}", {"n": 0}) == 0
    assert filled("{n=word}", {}) == "word"
    with pytest.raises(KeyError, match="group"):
        filled(value["b"], {})


def test_headings_are_named_as_pages_name_them():
    assert anchor("Partitions below min.insync.replicas") == "partitions-below-mininsyncreplicas"
