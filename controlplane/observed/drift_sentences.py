"""What is not as it was left, each sentence by its code: what the apps of topics, access and drift
say of a difference, and their consoles in other languages put in their own words. Pure.
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


def difference_said(code: str, **params: Param) -> dict[str, Any]:
    """{text, text_code, params} of a difference.

    Raises:
        KeyError: there is no such sentence.
        SentenceError: it takes other parameters.
    """
    return {"text": rendered(DIFFERENCES[code], params), "text_code": code, "params": params}
