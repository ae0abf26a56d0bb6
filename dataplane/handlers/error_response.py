"""An answer that says only what went wrong, in the shape of any API.

A request names things (topics, partitions, groups); most responses answer per thing. The
response is therefore built by mirroring the request: wherever a response holds an array of
structs, the request's array that carries the same identifying fields is walked alongside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataplane.model.errors import ErrorCode
from dataplane.wire.schema import Shape, fields_of

if TYPE_CHECKING:
    from dataplane.wire.schema import Field

_ERROR_FIELDS = frozenset({"error_code", "partition_error_code"})
_MESSAGE_FIELDS = frozenset({"error_message"})
# Fields that identify what an entry of a response is about, and where a request spells it apart.
_ALIASES = {
    "partition_index": ("partition_index", "partition", "partition_indexes", "partitions"),
    "partition": ("partition", "partition_index", "partition_indexes", "partitions"),
    "partition_id": ("partition_id", "partitions"),
    "topic_name": ("topic_name", "name", "topic"),
    "topic": ("topic", "name", "topic_name"),
    "name": ("name", "topic", "topic_name", "topic_names", "topics"),
    "group_id": ("group_id", "groups", "groups_names", "group_ids"),
    "key": ("key", "coordinator_keys"),
    "transactional_id": ("transactional_id", "transactional_ids"),
    "user": ("user", "name"),
}
_ANSWERED_TOGETHER = frozenset({"deletions", "upsertions"})
"""Arrays of a request whose entries all get one in the same array of the response."""


def error_response(
    response_class: type,
    request: Any | None,
    code: ErrorCode,
    message: str | None = None,
    *,
    version: int,
) -> Any | None:
    """A response in which everything that was asked failed with `code`; None if it cannot say so.

    `version` is the one that it will be sent in: not every one has the field for an error.
    `request` None means that it could not be read: then only a top-level error can be answered. Who
    asked about nothing gets an answer about nothing.
    """
    response = response_class()
    _set_error(response, code, message)
    said = any(
        item.name in _ERROR_FIELDS and version in item.versions
        for item in fields_of(response_class)
    )
    if request is not None:
        asked_nothing = not _source_arrays(request)
        said = _mirror(response, request, code, message) or said or asked_nothing
    return response if said else None


def _set_error(target: Any, code: ErrorCode, message: str | None) -> None:
    for item in fields_of(type(target)):
        if item.name in _ERROR_FIELDS and item.kind.shape is Shape.FIXED:
            setattr(target, item.name, int(code))
        elif item.name in _MESSAGE_FIELDS:
            setattr(target, item.name, message or code.message)


def _mirror(target: Any, source: Any, code: ErrorCode, message: str | None) -> bool:
    """Fill the arrays of `target` from the arrays of `source`; whether an error was placed."""
    said = False
    for item in fields_of(type(target)):
        entry_class = item.kind.item.struct_class if item.kind.item is not None else None
        if entry_class is None or not _can_say(entry_class):
            continue
        for entries in _source_arrays(source):
            made = [_entry(entry_class, entry, code, message) for entry in entries]
            kept = [entry for entry in made if entry is not None]
            if kept:
                setattr(target, item.name, kept)
                said = True
                break
    return said


def _source_arrays(source: Any) -> list[list[Any]]:
    found: list[list[Any]] = []
    together: list[Any] = []
    for item in fields_of(type(source)):
        if item.kind.shape is Shape.ARRAY:
            value = getattr(source, item.name)
            if not value:
                continue
            if item.name in _ANSWERED_TOGETHER:
                together += value
            elif item.name == "dirs":  # asked by directory and topic, answered by topic
                found.append([topic for directory in value for topic in directory.topics])
            else:
                found.append(value)
    return [together, *found] if together else found


def _entry(entry_class: type, source: Any, code: ErrorCode, message: str | None) -> Any | None:
    """One entry about `source`, a struct or a bare name or index; None if nothing identifies it."""
    entry = entry_class()
    names = {item.name: item for item in fields_of(entry_class)}
    identified = False
    if hasattr(type(source), "__wire_fields__"):
        held = {item.name for item in fields_of(type(source))}
        for name, item in names.items():
            for alias in _ALIASES.get(name, (name,)):
                if alias in held and name not in _ERROR_FIELDS:
                    value = getattr(source, alias)
                    if isinstance(value, list) or item.kind.shape is Shape.ARRAY:
                        identified = _copy_name(entry, item, alias, value) or identified
                        continue
                    setattr(entry, name, value)
                    identified = True
                    break
        _mirror(entry, source, code, message)
    else:
        for name, item in names.items():
            fits = isinstance(source, str) == (item.kind.shape is Shape.STRING)
            if fits and name not in _ERROR_FIELDS and name in _ALIASES:
                setattr(entry, name, source)
                identified = True
                break
    _set_error(entry, code, message)
    return entry if identified or _is_by_place(entry_class) else None


def _copy_name(entry: Any, item: Field, alias: str, value: list[Any]) -> bool:
    """Take an array over that is itself what an entry is about, as the parts of an entity."""
    inner = item.kind.item
    if alias != item.name or inner is None or inner.struct_class is None or not value:
        return False
    if _can_say(inner.struct_class) or _names(inner.struct_class) != _names(type(value[0])):
        return False
    made = inner.struct_class
    setattr(entry, item.name, [made(**{n: getattr(v, n) for n in _names(made)}) for v in value])
    return True


def _names(cls: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields_of(cls))


def _is_by_place(entry_class: type) -> bool:
    """Whether entries are told apart by their places alone: nothing in them names anything."""
    return all(
        item.name in _ERROR_FIELDS | _MESSAGE_FIELDS or item.kind.shape is Shape.ARRAY
        for item in fields_of(entry_class)
    )


def _can_say(entry_class: type) -> bool:
    """Whether an error code lies anywhere in this struct."""
    for item in fields_of(entry_class):
        if item.name in _ERROR_FIELDS:
            return True
        inner = item.kind.item.struct_class if item.kind.item is not None else None
        if inner is not None and _can_say(inner):
            return True
    return False
