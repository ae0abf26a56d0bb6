"""Whether a principal may do something, and which rules decide it, by Kafka's own order. Pure.

Super users may everything. Without any rule about the resource `allow.everyone.if.no.acl.found`
decides. Else any DENY that names the operation (or ALL) refuses; else an ALLOW is needed, which may
name the operation, one that implies it, or ALL. A test asks the brokers' own evaluator the same.
"""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import product

from controlplane.access.rules import ALLOW, DENY, EVERYONE, IMPLIED_BY
from controlplane.gateway.types import EVERY_NAME, AclBinding

ANY_HOST = "*"
CLUSTER, TOPIC = "CLUSTER", "TOPIC"
CLUSTER_NAME = "kafka-cluster"

AUTHORIZER, SUPER_USERS = "authorizer.class.name", "super.users"
OPEN_WITHOUT_RULES = "allow.everyone.if.no.acl.found"
TENANTS_ONLY = "penstock.tenant.configs.only"
OWN_USER = "penstock.inter.broker.username"
HOSTS_KEPT = 20_000
"""Addresses of which one form is kept."""
HOSTS_MAX = 20
"""Hosts that are tried beside the one that was asked for."""
SETTING_KEYS = (AUTHORIZER, SUPER_USERS, OPEN_WITHOUT_RULES, TENANTS_ONLY, OWN_USER)
"""What brokers are asked for; TENANTS_ONLY and OWN_USER are those of managed clusters."""


class Verdict(StrEnum):
    ALLOWED = "allowed"
    DENIED = "denied"
    UNKNOWN = "unknown"


class Reason(StrEnum):
    """What decided."""

    NO_AUTHORIZER = "no-authorizer"
    SUPER_USER = "super-user"
    ALLOW_RULE = "allow-rule"
    OPEN = "open-without-rules"
    DENY_RULE = "deny-rule"
    NO_RULE = "no-rule"
    NOT_GRANTED = "not-granted"
    PEERS_ONLY = "peers-only"
    SETTINGS_UNKNOWN = "settings-unknown"
    BROKERS_DIFFER = "brokers-differ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """In Kafka's words, upper case; `principal` as `User:app`.

    `host`: an address; empty: one that no rule names.
    """

    principal: str
    host: str
    operation: str
    resource_type: str
    resource_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizerSettings:
    """What of a broker's settings decides beside the rules; None: it could not be read.

    `peers_by_acl` is False where no rule makes anybody a peer of the brokers.
    """

    is_enabled: bool | None = None
    super_users: frozenset[str] | None = None
    is_open_without_rules: bool | None = None
    peers_by_acl: bool | None = None

    @property
    def unknown(self) -> tuple[str, ...]:
        """The keys that could not be read."""
        pairs = (
            (AUTHORIZER, self.is_enabled),
            (SUPER_USERS, self.super_users),
            (OPEN_WITHOUT_RULES, self.is_open_without_rules),
            (TENANTS_ONLY, self.peers_by_acl),
        )
        return tuple(key for key, value in pairs if value is None)


NOTHING_READ = AuthorizerSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer, and why.

    Attributes:
        deciding: the rules that allow it, or those that deny it.
        missing: what would have to be added for it to be allowed.
        through: another question whose answer decided: creating a topic is allowed by CREATE on
            the cluster too, idempotent writing by WRITE on any topic.
        unknown: settings that could not be read and would decide.
        by_broker: verdict by broker, where brokers are set differently.
    """

    verdict: Verdict
    reason: Reason
    deciding: tuple[AclBinding, ...] = ()
    missing: tuple[AclBinding, ...] = ()
    through: str = ""
    unknown: tuple[str, ...] = ()
    by_broker: tuple[tuple[int, Verdict], ...] = ()

    @property
    def is_allowed(self) -> bool:
        return self.verdict is Verdict.ALLOWED


def judge(
    question: Question,
    rules: Iterable[AclBinding],
    settings: Mapping[int, AuthorizerSettings],
) -> Decision:
    """What every broker would say; UNKNOWN where that hangs on what could not be read.

    `settings` is by broker; none at all counts as one that said nothing.
    """
    all_rules = _deciding(question, rules)
    # Brokers are mostly set alike, or hide the same: each way is judged once.
    by_settings = {each: _of_broker(question, all_rules, each) for each in {*settings.values()}}
    said = {broker: by_settings[of_broker] for broker, of_broker in sorted(settings.items())}
    if not said:
        return _of_broker(question, all_rules, NOTHING_READ)
    decisions = list(said.values())
    if len({decision.verdict for decision in decisions}) == 1:
        return decisions[0]
    unsure = [each for each in decisions if each.verdict is Verdict.UNKNOWN]
    if unsure:
        return unsure[0]
    return Decision(
        verdict=Verdict.UNKNOWN,
        reason=Reason.BROKERS_DIFFER,
        by_broker=tuple((broker, each.verdict) for broker, each in said.items()),
        deciding=next((each.deciding for each in decisions if each.deciding), ()),
        missing=next((each.missing for each in decisions if each.missing), ()),
    )


def hosts_with_another_verdict(
    question: Question,
    rules: Iterable[AclBinding],
    settings: Mapping[int, AuthorizerSettings],
    verdict: Verdict,
) -> list[str]:
    """Hosts that rules name from which the answer is another one; at most HOSTS_MAX are tried."""
    all_rules = _deciding(question, rules)
    named = sorted(
        {
            rule.host
            for rule in all_rules
            if rule.host != ANY_HOST and rule.principal in {question.principal, EVERYONE}
        }
    )
    return [
        host
        for host in named[:HOSTS_MAX]
        if judge(replace(question, host=host), all_rules, settings).verdict is not verdict
    ]


def _deciding(question: Question, rules: Iterable[AclBinding]) -> list[AclBinding]:
    """Those that can matter to the answer; of rules about others only that there are any.

    A cluster may have ten thousand rules, and each of them is looked at for each way in which the
    brokers may be set and each host: so what says the same is there once.
    """
    about = [rule for rule in rules if _is_about(question, rule)]
    kept = [rule for rule in about if rule.principal in {question.principal, EVERYONE}]
    others = {rule.resource_type: rule for rule in about}
    return list(dict.fromkeys([*kept, *others.values()]))


def _is_about(question: Question, rule: AclBinding) -> bool:
    if rule.covers(question.resource_type, question.resource_name):
        return True
    if (question.resource_type, question.operation) == (TOPIC, "CREATE"):
        return rule.covers(CLUSTER, CLUSTER_NAME)
    if (question.resource_type, question.operation) == (CLUSTER, "IDEMPOTENT_WRITE"):
        return rule.resource_type == TOPIC
    return False


def _of_broker(
    question: Question, rules: Sequence[AclBinding], settings: AuthorizerSettings
) -> Decision:
    """The same in every world that fits what was read, or UNKNOWN."""
    decisions = [decide(question, rules, world) for world in _worlds(question, settings)]
    first = decisions[0]
    if all(each.verdict is first.verdict for each in decisions):
        return first
    return Decision(
        verdict=Verdict.UNKNOWN,
        reason=Reason.SETTINGS_UNKNOWN,
        deciding=first.deciding,
        missing=first.missing,
        unknown=tuple(
            key
            for key in settings.unknown
            if key != TENANTS_ONLY or question.operation == "CLUSTER_ACTION"
        ),
    )


def _worlds(question: Question, settings: AuthorizerSettings) -> Iterator[AuthorizerSettings]:
    """Every way in which what was not read may be; the one in which rules decide comes first."""
    enabled = (True, False) if settings.is_enabled is None else (settings.is_enabled,)
    supers = (
        (frozenset[str](), frozenset({question.principal}))
        if settings.super_users is None
        else (settings.super_users,)
    )
    opened = (
        (False, True)
        if settings.is_open_without_rules is None
        else (settings.is_open_without_rules,)
    )
    peers = (True, False) if settings.peers_by_acl is None else (settings.peers_by_acl,)
    for is_enabled, super_users, is_open, peers_by_acl in product(enabled, supers, opened, peers):
        yield AuthorizerSettings(
            is_enabled=is_enabled,
            super_users=super_users,
            is_open_without_rules=is_open,
            peers_by_acl=peers_by_acl,
        )


def decide(
    question: Question, rules: Sequence[AclBinding], settings: AuthorizerSettings
) -> Decision:
    """As a broker with these settings, all of them known, answers a request that asks this."""
    found = authorize(question, rules, settings)
    if found.is_allowed:
        return found
    if (question.resource_type, question.operation) == (TOPIC, "CREATE"):
        on_cluster = replace(question, resource_type=CLUSTER, resource_name=CLUSTER_NAME)
        other = authorize(on_cluster, rules, settings)
        if other.is_allowed:
            return replace(other, through="CREATE on the cluster")
    if (question.resource_type, question.operation) == (CLUSTER, "IDEMPOTENT_WRITE"):
        granting = any_topic_to_write(question, rules, settings)
        if granting is not None:
            return Decision(
                verdict=Verdict.ALLOWED,
                reason=Reason.ALLOW_RULE if granting else Reason.OPEN,
                deciding=granting,
                through="WRITE on any topic",
            )
    return found


def authorize(
    question: Question, rules: Iterable[AclBinding], settings: AuthorizerSettings
) -> Decision:
    """As the authorizer decides on exactly this resource."""
    before_rules = _without_rules(question, settings)
    if before_rules is not None:
        return before_rules
    about = [r for r in rules if r.covers(question.resource_type, question.resource_name)]
    if not about:
        if settings.is_open_without_rules:
            return Decision(verdict=Verdict.ALLOWED, reason=Reason.OPEN)
        return _refused(question, Reason.NO_RULE)
    concerning = [rule for rule in about if concerns(rule, question.principal, question.host)]
    return _by_rules(question, concerning)


def _without_rules(question: Question, settings: AuthorizerSettings) -> Decision | None:
    if not settings.is_enabled:
        return Decision(verdict=Verdict.ALLOWED, reason=Reason.NO_AUTHORIZER)
    if question.principal in (settings.super_users or ()):
        return Decision(verdict=Verdict.ALLOWED, reason=Reason.SUPER_USER)
    if question.operation == "CLUSTER_ACTION" and not settings.peers_by_acl:
        return Decision(verdict=Verdict.DENIED, reason=Reason.PEERS_ONLY)
    return None


def _by_rules(question: Question, concerning: Sequence[AclBinding]) -> Decision:
    named = {"ALL", question.operation}
    denying = [r for r in concerning if r.permission == DENY and r.operation in named]
    granting = [
        r for r in concerning if r.permission == ALLOW and grants(r.operation, question.operation)
    ]
    if denying:
        return Decision(
            verdict=Verdict.DENIED,
            reason=Reason.DENY_RULE,
            deciding=tuple(sorted(denying)),
            missing=() if granting else (missing_rule(question),),
        )
    if granting:
        return Decision(
            verdict=Verdict.ALLOWED, reason=Reason.ALLOW_RULE, deciding=tuple(sorted(granting))
        )
    return _refused(question, Reason.NOT_GRANTED)


def _refused(question: Question, reason: Reason) -> Decision:
    return Decision(verdict=Verdict.DENIED, reason=reason, missing=(missing_rule(question),))


def missing_rule(question: Question) -> AclBinding:
    """The narrowest rule that would allow it, from any host."""
    return AclBinding(
        principal=question.principal,
        host=ANY_HOST,
        operation=question.operation,
        permission=ALLOW,
        resource_type=question.resource_type,
        resource_name=question.resource_name,
        pattern_type="LITERAL",
    )


def grants(operation: str, wanted: str) -> bool:
    """Whether an ALLOW of `operation` allows `wanted`; a DENY implies nothing."""
    return operation in {wanted, "ALL"} or operation in IMPLIED_BY.get(wanted, ())


def concerns(rule: AclBinding, principal: str, host: str) -> bool:
    if rule.principal not in {principal, EVERYONE}:
        return False
    return rule.host == ANY_HOST or one_form(rule.host) == one_form(host)


@lru_cache(maxsize=HOSTS_KEPT)
def one_form(host: str) -> str:
    """One address has one meaning, however it is written: IPv6 long or short, IPv4 in IPv6."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def any_topic_to_write(
    question: Question, rules: Iterable[AclBinding], settings: AuthorizerSettings
) -> tuple[AclBinding, ...] | None:
    """The rules by which there may be a topic to write (KIP-679); none needed: empty; None: no."""
    concerning = [
        rule
        for rule in rules
        if rule.resource_type == TOPIC
        and rule.operation in {"WRITE", "ALL"}
        and concerns(rule, question.principal, question.host)
    ]
    denied = {
        (rule.pattern_type, rule.resource_name) for rule in concerning if rule.permission == DENY
    }
    if ("LITERAL", EVERY_NAME) in denied:
        return None
    if settings.is_open_without_rules:
        return ()
    left = sorted(
        rule for rule in concerning if rule.permission == ALLOW and not _is_dominated(rule, denied)
    )
    return tuple(left) or None


def _is_dominated(rule: AclBinding, denied: set[tuple[str, str]]) -> bool:
    """Whether denials leave nothing of what the rule allows."""
    name = rule.resource_name
    if rule.pattern_type == "LITERAL":
        if name == EVERY_NAME:
            return False
        if ("LITERAL", name) in denied:
            return True
    return any(("PREFIXED", name[:length]) in denied for length in range(1, len(name) + 1))


def settings_of(values: Mapping[str, str | None]) -> AuthorizerSettings:
    """Of one broker's answer by key: a key that it does not name is not set; None: it hides it."""
    supers: frozenset[str] | None
    if values.get(SUPER_USERS, "") is None:
        supers = None
    else:
        supers = frozenset(
            user.strip() for user in (values.get(SUPER_USERS) or "").split(";") if user.strip()
        )
        own = values.get(OWN_USER)
        supers = supers | {f"User:{own}"} if own else supers
    tenants_only = _flag(values, TENANTS_ONLY)
    return AuthorizerSettings(
        is_enabled=None if values.get(AUTHORIZER, "") is None else bool(values.get(AUTHORIZER)),
        super_users=supers,
        is_open_without_rules=_flag(values, OPEN_WITHOUT_RULES),
        peers_by_acl=None if tenants_only is None else not tenants_only,
    )


def _flag(values: Mapping[str, str | None], key: str) -> bool | None:
    value = values.get(key, "false")
    return None if value is None else value.strip().lower() == "true"
