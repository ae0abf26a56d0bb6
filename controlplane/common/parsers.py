"""A request's body: JSON of bounded size and depth, with text that a database can hold."""

import json
from collections.abc import Mapping
from typing import Any

from rest_framework.parsers import BaseParser

from controlplane.common.limits import BODY_MAX_BYTES
from controlplane.common.problems import Problem, field_problem

DEPTH_MAX = 32


class JsonBodyParser(BaseParser):
    """RFC 8259: UTF-8 whatever the charset says; no NaN, no NUL, no half of a surrogate pair."""

    media_type = "application/json"
    bytes_max = BODY_MAX_BYTES

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - DRF's signature
    ) -> Any:
        body = stream.read(self.bytes_max + 1)
        if len(body) > self.bytes_max:
            raise Problem(
                f"A body has at most {self.bytes_max} bytes.", status=413, code="too-large"
            )
        try:
            data = json.loads(body.decode(), parse_constant=_refuse_constant)
        except RecursionError as error:
            raise _too_deep() from error
        except ValueError as error:
            raise Problem(f"The body is not JSON: {error}.", code="malformed") from error
        check_text(data)
        return data


def check_text(data: Any, pointer: str = "", depth: int = 0) -> None:
    """Refuse text, keys too, that no database holds; the pointer names the place."""
    if isinstance(data, str):
        if not is_storable(data):
            raise field_problem(
                pointer or "/", "This text holds a null character or half a character.", "text"
            )
    elif isinstance(data, dict | list):
        if depth >= DEPTH_MAX:
            raise _too_deep()
        if isinstance(data, dict):
            for key in data:
                if not is_storable(key):
                    raise field_problem(
                        pointer or "/", "A name in it holds a null or half a character.", "text"
                    )
        pairs = data.items() if isinstance(data, dict) else enumerate(data)
        for key, value in pairs:
            check_text(value, f"{pointer}/{key}", depth + 1)


def is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _too_deep() -> Problem:
    return Problem(f"The body is nested more than {DEPTH_MAX} deep.", code="malformed")
