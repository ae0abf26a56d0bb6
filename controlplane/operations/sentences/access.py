"""Warnings about users, ACLs and quotas of clients."""

from collections.abc import Mapping
from typing import Final

_MORE = "{more:none=|other= and # more}"
_SESSIONS = (
    "{session_s:unknown= Connections that are open then may go on until they close by themselves:"
    " how long a login lasts (connections.max.reauth.ms) could not be read.|"
    "none= Connections that are open then go on until they close by themselves:"
    " connections.max.reauth.ms is 0, so no login is asked for again.|"
    "other= Connections that are open then are asked for their login again within #"
    " (connections.max.reauth.ms), and refused.}"
)
"""What becomes of connections that are open when a password ends; it follows a full stop."""
_LOSE_ACCESS = (
    "Clients that log in by {mechanism} are refused at their next login; those that do by {left} go"
    " on."
)

QUOTAS: Final[Mapping[str, str]] = {
    "producer_byte_rate": "bytes produced a second",
    "consumer_byte_rate": "bytes consumed a second",
    "request_percentage": "percent of a request thread",
    "controller_mutation_rate": "partitions created or deleted a second",
}

ACCESS: Final[Mapping[str, str]] = {
    "everyone": "User:* means every user on this cluster.",
    "opens-access": f"Every user of this cluster, also later: {{rules}}{_MORE}.",
    "every-resource": "The name * covers everything, also later.",
    "deny-wins": "A DENY rule beats every ALLOW rule: who used it so far is refused.",
    "deny-lifted": "Without {rules:one=# DENY rule|other=# DENY rules} more is allowed.",
    "access-lost": (
        f"No other rule grants this: {{rules}}{_MORE}. Clients that use it are refused."
    ),
    "mechanism-unknown": (
        "sasl.enabled.mechanisms {brokers:none=|one=of # broker |other=of # brokers }could not be"
        " read{reason:unknown=|other= (#)}: whether clients can log in by {mechanism} is unknown."
        " Try the new password before the old one ends."
    ),
    "mechanism-not-everywhere": (
        "Listeners that do not enable {mechanism}: {listeners:each|*=those without their own|"
        "other=#}. Clients that use them cannot log in with the new password."
    ),
    "no-acls": "Without an ACL the user can do nothing.",
    "clients-lose-access": "Clients of this user are refused at their next connection.",
    "clients-lose-access/mechanism": _LOSE_ACCESS,
    "clients-lose-access/sessions": _LOSE_ACCESS + _SESSIONS,
    "old-password-ends": "The old password is refused at the next connection of each client.",
    "ends-overlap": (
        "Two passwords of {username} stand until {until_at}: both are replaced by the new one,"
        " under both mechanisms, and the overlap is over."
    ),
    "old-password-until": (
        "The old password ({mechanism}) works for {overlap_s} from when the new one is stored:"
        " until about {until_at}, if confirmed now. Then it is removed, and clients that use it are"
        f" refused at their next login.{_SESSIONS}"
    ),
    "mechanism-changes": (
        "Clients take the new password together with sasl.mechanism={new}: with {old} it is"
        " refused. Rules and quotas of the user stay as they are."
    ),
    "both-passwords-stay": (
        "The old password of {names}{more:none=|one= and of # more user|other= and of # more users}"
        " stays: a rotation with an overlap is not over, and nobody removes the old password once"
        " the cluster is let go. End the overlap first (user.retire)."
    ),
    "service-kept-out": (
        "The users of this service get quotas of their own, so that it does not bound them."
    ),
    "bounds-service": (
        "It bounds the user by which Penstock connects, too, unless that has a quota of its own:"
        " with too little of it what is shown here is late, and operations fail."
    ),
    "per-broker": (
        "Each broker bounds what reaches it: on all brokers together it is as many times that."
    ),
    "throttles": "Clients above it are slowed down at once: {quotas}.",
    "very-low": "So low that clients may time out: {quotas}.",
    "lifted": "No quota of its own any more: {quotas}. Defaults hold, if any.",
}
