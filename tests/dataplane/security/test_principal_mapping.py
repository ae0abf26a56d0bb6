"""`ssl.principal.mapping.rules`: Kafka's examples, and names that strangers choose."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.security.principal_mapping import NoMappingError, PrincipalMapping

NAME = "CN=serviceuser,OU=ServiceUsers,O=Unknown,L=Unknown,ST=Unknown,C=Unknown"
RULES = (
    "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,"
    "RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L,"
    "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L,"
    "DEFAULT"
)


@pytest.mark.parametrize(
    ("rules", "subject", "name"),
    [
        ("DEFAULT", NAME, NAME),
        (RULES, NAME, "serviceuser"),
        (RULES, "CN=adminUser,OU=Admin,O=Unknown,L=U,ST=U,C=U", "adminuser@admin"),
        (RULES, "OU=JavaUsers,CN=Duke", "duke"),
        (RULES, "OU=JavaUsers", "OU=JavaUsers"),
        ("RULE:CN=(.*)/$1/U", "CN=alice", "ALICE"),
        ("RULE:^CN=(.*?)$/$1/ , DEFAULT", "CN=alice", "alice"),
        ("RULE:^CN=a,(.*)$/$1/\nDEFAULT", "CN=a,O=b", "O=b"),
        (r"RULE:^CN=(.*?)\/(.*?)$/$1\/$2/", "CN=a/b", "a/b"),
        ("RULE:^CN=(.*)$/user-$1-$2/", "CN=a", "user-a-$2"),
    ],
)
def test_a_name_becomes_a_principal(rules: str, subject: str, name: str) -> None:
    assert PrincipalMapping(rules).name(subject) == name


@pytest.mark.parametrize(
    ("rules", "subject"),
    [
        ("RULE:^CN=alice$/alice/", "CN=alicex"),
        ("RULE:CN=alice/alice/", "CN=alice,O=x"),  # all of the name has to match
        ("RULE:^CN=(.*)$/$1/", "CN="),
        ("DEFAULT", ""),
        ("DEFAULT", "CN=" + "a" * 3_000),
        ("RULE:^CN=alice$/alice/", "CN=alice\n"),
        (r"RULE:^CN=(.*?),O=Ours$/$1/", r"CN=mallory\,O\=Ours"),
    ],
)
def test_a_name_without_a_rule_has_no_principal(rules: str, subject: str) -> None:
    with pytest.raises(NoMappingError):
        PrincipalMapping(rules).name(subject)


@pytest.mark.parametrize(
    "rules",
    [
        "",
        "default",
        "RULE:a",
        "RULE:a/b",
        "RULE:a/b/X",
        "RULE:a/b/LU",
        "RULE:(/b/",
        r"RULE:(a)\1/b/",
        "RULE:a/$/",
        "DEFAULT;DEFAULT",
        "ALL",
    ],
)
def test_a_wrong_rule_is_refused(rules: str) -> None:
    with pytest.raises(ValueError, match="rule"):
        PrincipalMapping(rules)


@given(st.text(st.sampled_from("CN=,OUa\\+"), max_size=2_000))
def test_no_name_takes_long(subject: str) -> None:
    mapping = PrincipalMapping(RULES)
    started = time.process_time()
    with contextlib.suppress(NoMappingError):
        assert mapping.name(subject)
    assert time.process_time() - started < 5
