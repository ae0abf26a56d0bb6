"""What a page says, as a tag: whoever has it already is told so, and how old it is by now.

A pass over a cluster makes everything a few seconds younger without changing it. So the tag leaves
out how old parts are: text that is the part's own `as_of`, in the part and anywhere in its data. An
answer "not modified" has the new ages in a header, and who keeps the page puts them where the old
ones were.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from controlplane.common.hashing import canonical_json

AGES = "Penstock-As-Of"
"""`topics=2026-11-26T00:00:00Z, counts=…`: by part; one without an age has an empty one."""
TAG_CHARS = 32
_AGE = '"@"'


def tag_of_page(asked: str, parts: Mapping[str, Mapping[str, Any]]) -> str:
    """The tag, quoted, of what is compared weakly.

    `asked` is by whom and for what: two tenants, or two that see different parts of one, never
    have a tag in common.
    """
    found = hashlib.sha256(asked.encode())
    for name, part in parts.items():
        text = canonical_json(part)
        if part["as_of"] is not None:
            text = text.replace(canonical_json(part["as_of"]), _AGE)
        found.update(f"\n{name} {text}".encode())
    return f'"{found.hexdigest()[:TAG_CHARS]}"'


def ages(parts: Mapping[str, Mapping[str, Any]]) -> str:
    return ", ".join(f"{name}={part['as_of'] or ''}" for name, part in parts.items())
