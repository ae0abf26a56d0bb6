"""A sentence's English comes from its template and its parameters, and from nothing else."""

import pytest

from controlplane.common.sentences import SentenceError, names_in, rendered


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 topics"), (1, "1 topic"), (12000, "12000 topics")]
)
def test_a_number_takes_its_form(number, said):
    assert rendered("{topics:one=# topic|other=# topics}", {"topics": number}) == said


def test_none_is_for_zero_and_unknown_for_null():
    template = "a{more:none=|one= and # more|other= and # more}, {size_bytes:unknown=nobody knows}"
    assert rendered(template, {"more": 0, "size_bytes": None}) == "a, nobody knows"
    assert rendered(template, {"more": 1, "size_bytes": 1}) == "a and 1 more, 1 byte"


def test_a_text_takes_its_form_and_so_does_each_of_several():
    assert rendered("{state:failed=broken|other=# now}", {"state": "failed"}) == "broken"
    assert rendered("{state:failed=broken|other=# now}", {"state": "open"}) == "open now"
    assert rendered("{names:each|*=the others|other=#}", {"names": "a, *"}) == "a, the others"


@pytest.mark.parametrize("name", ["unknown", "other", "none", "one", "#", "{x}", "a|b=c"])
def test_what_somebody_called_a_thing_chooses_no_form_and_is_no_template(name):
    """A client id may be `unknown`: that form is for what is not known."""
    template = "{client:unknown=every client id|other=client id #}"
    assert rendered(template, {"client": name}) == f"client id {name}"
    assert rendered("{clients:each|unknown=all|other=#}", {"clients": name}) == name
    assert rendered(template, {"client": None}) == "every client id"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("size_bytes", 1_610_612_736, "1.5 GiB (1610612736 bytes)"),
        ("kept_ms", 604_800_000, "7 days"),
        ("lease_s", 5400, "1 hour 30 minutes"),
        ("limit_bytes_per_s", 1_572_864, "1.5 MiB/s"),
        ("until_at", "2026-01-31T12:00:00Z", "2026-01-31 12:00 UTC"),
        ("most", 1000, "1000"),
        ("name", "sales_ms", "sales_ms"),
    ],
)
def test_the_end_of_a_name_says_the_unit(name, value, said):
    assert rendered(f"{{{name}}}", {name: value}) == said
    assert rendered(f"{{{name}:unknown=-}}", {name: value}) == said


def test_codes_are_called_by_their_phrases():
    phrases = {"quotas": {"a": "first", "b": "second"}}
    assert rendered("{quotas}.", {"quotas": "a, b"}, phrases) == "first, second."


def test_the_same_parameter_may_stand_twice():
    template = "{replicas}: losing {replicas:one=# broker|other=# brokers}"
    assert rendered(template, {"replicas": 1}) == "1: losing 1 broker"
    assert names_in(template) == {"replicas"}


@pytest.mark.parametrize(
    ("template", "params", "why"),
    [
        ("{a} and {b}", {"a": 1}, "'b' is not given"),
        ("{a}", {"a": 1, "c": 2}, r"nothing says \['c'\]"),
        ("{state:failed=broken}", {"state": "open"}, "no form for 'open'"),
        ("{a}", {"a": None}, "no form for 'unknown'"),
    ],
)
def test_what_does_not_fit_is_a_mistake(template, params, why):
    with pytest.raises(SentenceError, match=why):
        rendered(template, params)


def test_a_text_with_signs_of_templates_is_put_as_it_is():
    assert rendered("{answer}.", {"answer": "{a|b=#}"}) == "{a|b=#}."
