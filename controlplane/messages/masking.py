"""Masks: what of a message somebody does not see. Pure.

A mask names a part of the messages of some topics: the key, the value, a field of either, or a
header. It is applied before a filter looks, before anything is counted as matched, and before
anything is cut to length: nothing that leaves the service depends on what it hides, other than that
it is there.

What cannot be taken apart, so that nobody knows where the field is, is hidden whole.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from controlplane.common.grants import Area as GrantArea
from controlplane.common.grants import Grant, Pattern, Scope, Verb
from controlplane.messages.decoding import Decoded, Kind, json_text

REPLACEMENT = "•••"
HASH_HEX = 16
EACH = "*"
"""A step of a path: each item of a list, or each field."""
STEPS_MAX, PATH_MAX = 20, 500


class Part(StrEnum):
    KEY = "key"
    VALUE = "value"
    HEADER = "header"


class Act(StrEnum):
    REMOVE = "remove"
    REPLACE = "replace"
    HASH = "hash"
    """The same for equal values within the tenant; by a key that never leaves the service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """Of one tenant.

    Attributes:
        path: fields of key or value, or the header's name alone; empty: all of the part.
        see_through: roles whose holders see what it hides.
    """

    topics: Pattern
    part: Part
    path: tuple[str, ...] = ()
    act: Act = Act.REPLACE
    see_through: frozenset[str] = frozenset()


def path_of(text: str) -> tuple[str, ...]:
    """`customer.emails.*` as steps.

    Raises:
        ValueError: a sentence.
    """
    if not text:
        return ()
    steps = tuple(text.split("."))
    if len(text) > PATH_MAX or len(steps) > STEPS_MAX:
        raise ValueError(f"A path has at most {STEPS_MAX} fields and {PATH_MAX} characters.")
    if not all(steps):
        raise ValueError("A path is names with dots between them, as customer.email.")
    return steps


def masks_for(masks: Sequence[Mask], scope: Scope, cluster: str, topic: str) -> tuple[Mask, ...]:
    """Those that hide something of this topic from whoever has this scope."""
    return tuple(
        mask
        for mask in masks
        if mask.topics.covers(topic) and not sees_through(scope, mask.see_through, cluster, topic)
    )


def sees_through(scope: Scope, roles: frozenset[str], cluster: str, topic: str) -> bool:
    """Whether each layer reads the topic's messages by a grant of one of these roles."""

    def is_by_role(grant: Grant) -> bool:
        return grant.role in roles and grant.allows(Verb.BROWSE, GrantArea.TOPIC, cluster, topic)

    return bool(scope.layers) and all(any(map(is_by_role, layer)) for layer in scope.layers)


def masked(part: Part, found: Decoded, masks: Sequence[Mask], secret: bytes) -> Decoded:
    """A key or value as these masks leave it; `part` is neither header."""
    own = [mask for mask in masks if mask.part is part]
    if not own or found.kind is Kind.NULL:
        return found
    whole = next((mask for mask in own if not mask.path), None)
    if whole is not None:
        return _hidden(found, whole.act, secret)
    if found.kind is not Kind.JSON or not isinstance(found.data, dict | list):
        # Nobody knows where in it the field is.
        return _hidden(found, Act.REPLACE, secret)
    data = found.data
    for mask in own:
        data = _without(data, mask.path, mask.act, secret)
    # Always written anew: a name that stands twice is read once, and would be shown twice.
    return replace(
        found, data=data, text=json_text(data), size_bytes=None, is_masked=data != found.data
    )


def masked_header(
    name: str, found: Decoded, masks: Sequence[Mask], secret: bytes
) -> Decoded | None:
    """A header as the masks leave it; None: it is not there."""
    for mask in masks:
        if mask.part is Part.HEADER and mask.path in {(), (name,)}:
            return None if mask.act is Act.REMOVE else _hidden(found, mask.act, secret)
    return found


def header_path(name: str) -> tuple[str, ...]:
    """A header's name is one step, dots and all."""
    return (name,) if name else ()


def _hidden(found: Decoded, act: Act, secret: bytes) -> Decoded:
    text = _hash(found.text, secret) if act is Act.HASH else REPLACEMENT
    if act is Act.REMOVE:
        text = ""
    return Decoded(kind=Kind.STRING, text=text, data=text, size_bytes=None, is_masked=True)


def _without(data: Any, path: Sequence[str], act: Act, secret: bytes) -> Any:
    """`data` anew, without what the path leads to."""
    step, rest = path[0], path[1:]
    if isinstance(data, list):
        if step == EACH:
            if not rest and act is Act.REMOVE:
                return []
            return [_item(item, rest, act, secret) for item in data]
        # A list in between, which the path does not name: each of its items is meant.
        return [_without(item, path, act, secret) for item in data]
    if not isinstance(data, dict):
        return data
    found: dict[str, Any] = {}
    for name, item in data.items():
        if step not in {EACH, name}:
            found[name] = item
        elif rest or act is not Act.REMOVE:
            found[name] = _item(item, rest, act, secret)
    return found


def _item(item: Any, rest: Sequence[str], act: Act, secret: bytes) -> Any:
    if rest:
        return _without(item, rest, act, secret)
    return _hash(json_text(item), secret) if act is Act.HASH else REPLACEMENT


def _hash(text: str, secret: bytes) -> str:
    made = hmac.new(secret, text.encode(errors="surrogatepass"), hashlib.sha256)
    return f"hash:{made.hexdigest()[:HASH_HEX]}"
