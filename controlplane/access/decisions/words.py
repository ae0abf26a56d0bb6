"""A decision in one plain sentence. Pure."""

from controlplane.access.decisions.authorizer import Decision, Question, Reason, Verdict
from controlplane.common.words import counted

RESOURCE_WORDS = {
    "TOPIC": "the topic",
    "GROUP": "the group",
    "TRANSACTIONAL_ID": "the transactional id",
}


def operation_words(operation: str) -> str:
    """`DESCRIBE_CONFIGS` as `describe configs`."""
    return operation.lower().replace("_", " ")


def asked_words(question: Question) -> str:
    """`User:app may read the topic orders`, without the verb's outcome."""
    where = (
        "the cluster"
        if question.resource_type == "CLUSTER"
        else f"{RESOURCE_WORDS[question.resource_type]} {question.resource_name}"
    )
    return f"{operation_words(question.operation)} {where}"


def sentence(question: Question, decision: Decision) -> str:
    """Who may or may not do what, and why; unknown says of what."""
    who, what = question.principal, asked_words(question)
    start = {
        Verdict.ALLOWED: f"{who} may {what}: ",
        Verdict.DENIED: f"{who} may not {what}: ",
        Verdict.UNKNOWN: f"Whether {who} may {what} is unknown: ",
    }[decision.verdict]
    through = f" It follows from {decision.through}." if decision.through else ""
    return start + _because(decision) + through


def _because(decision: Decision) -> str:
    rules = counted(len(decision.deciding), "ACL")
    if decision.reason is Reason.SETTINGS_UNKNOWN:
        return f"it hangs on {', '.join(decision.unknown)}, which could not be read."
    if decision.reason is Reason.BROKERS_DIFFER:
        said = ", ".join(
            f"broker {broker} says {verdict}" for broker, verdict in decision.by_broker
        )
        return f"the brokers are set differently; {said}."
    return {
        Reason.NO_AUTHORIZER: "the brokers have no authorizer, so everybody may everything.",
        Reason.SUPER_USER: "it is a super user, for whom no ACL counts.",
        Reason.ALLOW_RULE: f"{rules} {'allow' if len(decision.deciding) != 1 else 'allows'} it and"
        " none denies it.",
        Reason.OPEN: "no ACL is about this resource, and allow.everyone.if.no.acl.found is true.",
        Reason.DENY_RULE: f"{rules} {'deny' if len(decision.deciding) != 1 else 'denies'} it, and"
        " a DENY wins over every ALLOW.",
        Reason.NO_RULE: "no ACL is about this resource.",
        Reason.NOT_GRANTED: "no ACL allows it.",
        Reason.PEERS_ONLY: "only the brokers themselves may, whatever the ACLs say.",
    }[decision.reason]
