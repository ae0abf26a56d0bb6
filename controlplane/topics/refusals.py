"""A broker's refusal of a field, as a problem that points at the field."""

import contextlib
import re
from collections.abc import Iterable, Iterator

from controlplane.common.problems import Invalid, pointer_of
from controlplane.gateway.errors import GatewayError

FIELD_OF = {
    "INVALID_TOPIC_EXCEPTION": "name",
    "INVALID_PARTITIONS": "partitions",
    "INVALID_REPLICATION_FACTOR": "replication_factor",
    "INVALID_CONFIG": "configs",
}


@contextlib.contextmanager
def fields_named(settings: Iterable[str] = ()) -> Iterator[None]:
    """Turn a refusal in Kafka's own words, which say what is allowed, into a 422 with a pointer.

    Args:
        settings: the configuration keys that were asked for; the one that the broker names is
            pointed at.

    Raises:
        Invalid: the broker refused a field. Other refusals pass.
    """
    try:
        yield
    except GatewayError as error:
        field = FIELD_OF.get(error.code)
        if field is None:
            raise
        detail = error.detail or error.code
        named = setting_named(detail, settings) if field == "configs" else None
        pointer = pointer_of("inputs", field, *([named] if named else []))
        raise Invalid(
            detail,
            errors=[{"pointer": pointer, "code": "refused-by-cluster", "detail": detail}],
            kafka_error=error.code,
        ) from error


def setting_named(detail: str, settings: Iterable[str]) -> str | None:
    """The key that the text is about; the only key when there is but one."""
    keys = sorted(settings)
    if len(keys) == 1:
        return keys[0]
    found = [key for key in keys if re.search(rf"(?<![\w.]){re.escape(key)}(?![\w]|\.\w)", detail)]
    # A refusal often names the setting first and then another that it does not fit.
    return min(found, key=detail.index) if found else None
