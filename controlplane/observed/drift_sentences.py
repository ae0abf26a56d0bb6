"""What is not as it was left, and what of it cannot be mended or told, each sentence by its code:
what the apps of clusters, topics, access and drift say, and consoles in other languages put in
their own words. Pure.
"""

from collections.abc import Mapping
from typing import Any, Final

from controlplane.common.sentences import Param, rendered

_LEFT = "the last verified operation"
_QUOTA = f"is {{observed:unknown=not set}}; {_LEFT} {{desired:unknown=took it away|other=left #}}."
_USER = "{user:unknown=every user|other=user #}"
_CLIENT = "{client:unknown=every client id|other=client id #}"
_WHERE = "partition {where}{more:none=|one= and # more partition|other= and # more partitions}"

DIFFERENCES: Final[Mapping[str, str]] = {
    "broker/away": (
        "Broker {broker} should run on {host} and is not in the cluster"
        "{said:unknown=|other=; its host says: #}."
    ),
    "broker/shown": (
        "Broker {broker} shows the {field:host=host|port=port|rack=rack}"
        " {observed:unknown=none|other=#} to clients; it was placed with"
        " {desired:unknown=none|other=#}."
    ),
    "topic": (
        f"{{field}} is {{observed:unknown=not set}} at the brokers; {_LEFT}"
        " {desired:unknown=set nothing|other=left #}."
    ),
    "user": (
        f"The user {{name}} has {{observed:unknown=no login|other=a login by #}}; {_LEFT} left"
        " {desired:unknown=no login|other=a login by #}."
    ),
    "acl/added": f"The rule “{{rule}}” is not there; {_LEFT} added it.",
    "acl/removed": f"The rule “{{rule}}” is there; {_LEFT} removed it.",
    "quota/user": f"{{key}} of {_USER} {_QUOTA}",
    "quota/client": f"{{key}} of {_CLIENT} {_QUOTA}",
    "quota/client-of-user": f"{{key}} of {_CLIENT} of {_USER} {_QUOTA}",
    "setting": (
        "{key} is {observed:unknown=not set}; {desired:unknown=nobody set it|"
        "other=it was left at #}."
    ),
    "setting/own": (
        "{key} is {observed:unknown=not set} (of broker {brokers}{more:none=|other= and # more}"
        " alone); {desired:unknown=nobody set it|other=it was left at #}."
    ),
    "replicas/brokers": (
        f"{{topic}} is on other brokers than the last verified reassignment left: {_WHERE}."
    ),
    "replicas/leaders": (
        f"{{topic}} prefers other leaders than the last verified reassignment left: {_WHERE}."
    ),
    "replicas/racks": (
        f"Replicas of {{topic}} share a rack that could be in {{most}}: {_WHERE}. If that rack is"
        " lost, more of them are lost than need be."
    ),
}

PROBLEMS: Final[Mapping[str, str]] = {
    "no-fewer-partitions": "Partitions can be added, never removed.",
    "by-reassignment": "How many replicas there are is for the next reassignment to say.",
    "passwords-not-kept": (
        "Passwords are not kept: create the user again, or replace its password."
    ),
    "by-user-operation": "The next operation on this user says what it has.",
    "values-differ": "The brokers have different values: there is not one to take over.",
    "set-at-start": (
        "Brokers read it when they start, from what this service writes: change it by a plan."
    ),
    "broker-gone": "Broker {brokers}, on which replicas were, is not in the cluster.",
    "too-many": "More than {most} partitions differ: make plans of parts of them.",
}
"""Why there is no plan that mends a difference."""

UNREAD: Final[Mapping[str, str]] = {
    "not-yet": "Nobody has looked into it yet.",
    "of-others": "Its brokers are run by others, whose audit logs are theirs.",
    "not-read": "The audit logs could not be read: {reason}",
    "not-whole": "Of broker {brokers} not all of the audit log could be read.",
}
"""Why audit logs may say more of who made a difference."""
UNREAD_NAMES: Final = ("unread", "unread_code", "unread_params")
"""Of what `unread_said` says."""


def difference_said(code: str, **params: Param) -> dict[str, Any]:
    """{text, text_code, params} of a difference.

    Raises:
        KeyError: there is no such sentence.
        SentenceError: it takes other parameters.
    """
    return {"text": rendered(DIFFERENCES[code], params), "text_code": code, "params": params}


def problem_said(way: str, code: str | None = None, **params: Param) -> dict[str, Any]:
    """{<way>_problem, <way>_problem_code, <way>_problem_params} of a way to mend a difference.

    `way` is `back` or `adopt`. Without a code the text is empty: there is a way. Raises as
    `difference_said`.
    """
    return _said(f"{way}_problem", PROBLEMS, code, params)


def unread_said(code: str | None = None, **params: Param) -> dict[str, Any]:
    """{unread, unread_code, unread_params}; without a code all was read. Raises as before."""
    return _said("unread", UNREAD, code, params)


def _said(
    name: str, table: Mapping[str, str], code: str | None, params: Mapping[str, Param]
) -> dict[str, Any]:
    text = "" if code is None else rendered(table[code], params)
    return {name: text, f"{name}_code": code, f"{name}_params": dict(params)}
