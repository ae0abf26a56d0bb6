"""Refusals as values: RFC 9457 problems with a stable code.

`type` is `https://penstock.dev/problems/<code>`: a name, not an address to fetch.
Raise the narrowest class; the exception handler renders it as application/problem+json.
"""

from typing import Any

TYPE_BASE = "https://penstock.dev/problems/"
RETRY_AFTER_S = 2


class Problem(Exception):  # noqa: N818 - the RFC's own word for it
    status = 400
    code = "bad-request"
    title = "The request cannot be served"
    retryable = False
    retry_after_s: int | None = None
    """After how long the same request may succeed: the header Retry-After."""

    def __init__(
        self,
        detail: str = "",
        *,
        code: str | None = None,
        errors: list[dict[str, str]] | None = None,
        status: int | None = None,
        retryable: bool | None = None,
        retry_after_s: int | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.code = code or self.code
        self.status = status or self.status
        self.errors = errors or []
        self.retryable = self.retryable if retryable is None else retryable
        self.retry_after_s = retry_after_s or (RETRY_AFTER_S if self.retryable else None)
        self.extra = extra

    def as_dict(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "type": TYPE_BASE + self.code,
            "title": self.title,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "retryable": self.retryable,
        }
        if self.errors:
            body["errors"] = self.errors
        body.update(self.extra)
        return body


class Invalid(Problem):
    status, code, title = 422, "invalid", "Some fields are not valid"


class NotFound(Problem):
    status, code, title = 404, "not-found", "Not found"


class Forbidden(Problem):
    status, code, title = 403, "forbidden", "This needs a stronger role or scope"


class Conflict(Problem):
    status, code, title = 409, "conflict", "Conflict with the current state"


class Gone(Problem):
    status, code, title = 410, "gone", "No longer available"


class TooManyRequests(Problem):
    status, code, title, retryable = 429, "too-many-requests", "Too many requests", True


class Unavailable(Problem):
    status, code, title, retryable = 503, "unavailable", "Temporarily unavailable", True


class DatabaseAway(Unavailable):
    def __init__(self) -> None:
        super().__init__("The database is busy or not reachable.")


def pointer_of(*names: object) -> str:
    """A JSON pointer (RFC 6901) to a field: `/inputs/configs/retention.ms`."""
    return "".join("/" + str(name).replace("~", "~0").replace("/", "~1") for name in names)


def field_problem(pointer: str, detail: str, code: str = "invalid") -> Invalid:
    """An Invalid that names one field by JSON pointer, for example `/inputs/partitions`."""
    return Invalid(detail, errors=[{"pointer": pointer, "code": code, "detail": detail}])
