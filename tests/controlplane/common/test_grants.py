"""Grants: what covers what, letter by letter; nothing without one; narrowing only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.common.grants import (
    ANY,
    EVERYTHING,
    GRANT_ROLES,
    LIMITED,
    NOTHING,
    OPERATOR,
    OWNER,
    VIEWER,
    Area,
    Grant,
    Match,
    Over,
    Pattern,
    Scope,
    Verb,
    grant_of,
    scope_of,
    whole,
)

TEAM = Pattern(Match.PREFIX, "team-a-")
ONE = Pattern(Match.LITERAL, "team-a")
NAMES = st.sampled_from(["team-a-", "team-a-x", "team-ab", "team-b-", "main", "*", "x.", "Team-a-"])
PATTERNS = st.one_of(
    st.just(ANY),
    st.builds(Pattern, st.just(Match.LITERAL), NAMES),
    st.builds(Pattern, st.just(Match.PREFIX), st.sampled_from(["team-a-", "x.", "team-"])),
)


@st.composite
def grants(draw):
    over = draw(st.sampled_from(list(Over)))
    return Grant(
        role=draw(st.sampled_from(GRANT_ROLES)),
        clusters=draw(PATTERNS),
        over=over,
        names=ANY if over is Over.CLUSTER else draw(PATTERNS),
    )


@pytest.mark.parametrize("name", ["team-a-x", "team-a-", "team-a-team-b", "team-a-*"])
def test_a_prefix_covers_what_begins_with_it(name):
    assert TEAM.covers(name)


@pytest.mark.parametrize(
    "name",
    [
        "team-ab",
        "team-a",
        "team-a.x",
        "Team-a-x",
        "TEAM-A-x",
        " team-a-x",
        "\ufeffteam-a-x",
        "team\u2010a\u2010x",  # another hyphen
        "te\u0430m-a-x",  # a Cyrillic a
        "ｔeam-a-x",
        "x/../team-a-x",
        "*",
        "",
    ],
)
def test_a_prefix_covers_nothing_that_only_looks_like_it(name):
    assert not TEAM.covers(name)


def test_composed_and_decomposed_letters_are_two_names():
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    pattern = Pattern(Match.LITERAL, composed)
    assert pattern.covers(composed)
    assert not pattern.covers(decomposed)


@pytest.mark.parametrize("name", ["*", "te?m", "team-a-%", "team_a_x", ".*"])
def test_signs_that_are_wildcards_elsewhere_are_letters(name):
    literal = Pattern(Match.LITERAL, name)
    assert literal.covers(name)
    assert not literal.covers("team-a-x")
    assert not Pattern(Match.PREFIX, "team_a_").covers("team-a-x")


@pytest.mark.parametrize("name", ["", "team-a", "team-a*", "a" * 256, " "])
def test_a_prefix_without_a_separator_at_its_end_is_none(name):
    assert Pattern(Match.PREFIX, name).fault()


@pytest.mark.parametrize(
    "row",
    [
        None,
        {},
        "owner",
        {"role": "owner"},
        whole(OWNER).as_row(),
        Grant(role=OPERATOR, over=Over.TOPIC, names=Pattern(Match.PREFIX, "")).as_row(),
        Grant(role=OPERATOR, over=Over.TOPIC, names=Pattern(Match.LITERAL, "")).as_row(),
        Grant(role=OPERATOR, over=Over.CLUSTER, names=TEAM).as_row(),
        Grant(role="root").as_row(),
        whole(VIEWER).as_row() | {"more": 1},
        whole(VIEWER).as_row() | {"over": "everything"},
        whole(VIEWER).as_row() | {"clusters": "any"},
        whole(VIEWER).as_row() | {"clusters": {"match": "any", "name": None}},
        whole(VIEWER).as_row() | {"clusters": {"match": "regex", "name": ".*"}},
    ],
)
def test_a_row_that_is_no_grant_grants_nothing(row):
    assert grant_of(row) is None
    scope = scope_of(LIMITED, [row])
    assert not any(scope.allows(verb, area, "main", "t") for verb in Verb for area in REAL)


REAL = [area for area in Area if area is not Area.SELF]


@pytest.mark.parametrize("scope", [NOTHING, scope_of(LIMITED, []), scope_of("", []), Scope(((),))])
def test_nothing_is_allowed_without_a_grant(scope):
    for verb in Verb:
        for area in REAL:
            assert not scope.allows(verb, area, "main", "t")
            assert not scope.may_touch(verb, area)


def test_a_role_on_everything_is_as_it_was():
    for area in (Area.TENANT, Area.OUTLINE, Area.CLUSTER, Area.ACCESS, Area.TOPIC, Area.GROUP):
        assert scope_of(VIEWER, []).allows(Verb.READ, area, "main", "t")
        assert not scope_of(VIEWER, []).allows(Verb.WRITE, area, "main", "t")
        assert scope_of(OPERATOR, []).allows(Verb.WRITE, area, "main", "t")
        assert not scope_of(OPERATOR, []).allows(Verb.ADMINISTER, area, "main", "t")
        assert EVERYTHING.allows(Verb.ADMINISTER, area, "main", "t")


def test_a_grant_over_topics_is_no_way_to_anything_else():
    scope = scope_of(LIMITED, [Grant(role=OPERATOR, over=Over.TOPIC, names=TEAM).as_row()])
    assert scope.allows(Verb.WRITE, Area.TOPIC, "main", "team-a-x")
    assert scope.allows(Verb.READ, Area.OUTLINE, "main")
    for area in (Area.TENANT, Area.CLUSTER, Area.ACCESS, Area.GROUP):
        assert not scope.sees(area, "main", "team-a-x"), area
    assert not scope.allows(Verb.WRITE, Area.OUTLINE, "main")


def test_roles_of_two_grants_do_not_add_up():
    """Write on one team's topics and read on all is no write on all."""
    rows = [
        Grant(role=OPERATOR, over=Over.TOPIC, names=TEAM).as_row(),
        Grant(role=VIEWER, over=Over.TOPIC).as_row(),
    ]
    scope = scope_of(LIMITED, rows)
    assert scope.sees(Area.TOPIC, "main", "orders")
    assert not scope.allows(Verb.WRITE, Area.TOPIC, "main", "orders")


@given(grants(), grants(), NAMES, NAMES)
def test_what_spans_a_grant_allows_all_of_it(wide, narrow, cluster, name):
    if not wide.spans(narrow):
        return
    for verb in Verb:
        for area in REAL:
            assert wide.allows(verb, area, cluster, name) >= narrow.allows(
                verb, area, cluster, name
            )


@given(st.lists(grants(), max_size=3), st.lists(grants(), max_size=3), NAMES, NAMES)
def test_two_layers_allow_what_both_do(own, maker, cluster, name):
    one, other = Scope((tuple(own),)), Scope((tuple(maker),))
    both = one.within(other)
    for verb in Verb:
        for area in REAL:
            asked = (verb, area, cluster, name)
            assert both.allows(*asked) == (one.allows(*asked) and other.allows(*asked))


@pytest.mark.parametrize("none", [NOTHING, Scope(()), scope_of(LIMITED, [])])
def test_nothing_within_everything_and_everything_within_nothing_is_nothing(none):
    for both in (none.within(EVERYTHING), EVERYTHING.within(none)):
        assert not any(both.allows(verb, area, "main", "t") for verb in Verb for area in REAL)


@given(st.lists(grants(), max_size=3), NAMES, NAMES)
def test_what_is_allowed_is_worth_looking_for(own, cluster, name):
    scope = Scope((tuple(own),))
    for verb in Verb:
        for area in REAL:
            if scope.allows(verb, area, cluster, name):
                assert scope.may_touch(verb, area)


@given(grants())
def test_a_grant_is_stored_and_read_again(grant):
    assert grant_of(grant.as_row()) == grant


def test_scopes_have_one_mark_each():
    team, all_of = Grant(role=VIEWER, over=Over.TOPIC, names=TEAM), whole(VIEWER)
    marks = {
        Scope(((team,),)).mark,
        Scope(((all_of,),)).mark,
        Scope(((team, all_of),)).mark,
        Scope(((team,), (all_of,))).mark,
        Scope(((),)).mark,
        NOTHING.mark,
        EVERYTHING.mark,
    }
    assert len(marks) == 6
    assert Scope(((team, all_of),)).mark == Scope(((all_of, team),)).mark
