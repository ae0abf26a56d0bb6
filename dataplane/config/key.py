"""What a configuration key is: name, type, default, bounds, how it may change, one sentence."""

from __future__ import annotations

import dataclasses
import enum
import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Value: TypeAlias = "bool | int | float | str | tuple[str, ...] | None"

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
WITHOUT_EFFECT = "Without effect here: "
"""How the sentence of a key begins that is known and checked, and that nothing here obeys."""
_TRIMMED = "".join(map(chr, range(0x21)))
"""What Java's `String.trim` takes off: control characters and the blank, not U+2028 or U+00A0."""
_WHOLE = re.compile(r"[+-]?[0-9]+")
_INTEGER_BITS = {"INT": 32, "SHORT": 16, "LONG": 64}


class ConfigError(ValueError):
    """A refused setting: which key, which value, what is allowed."""

    def __init__(self, key: str, value: object, reason: str) -> None:
        self.key = key
        self.value = value
        self.reason = reason
        super().__init__(f"Invalid value {value} for configuration {key}: {reason}")


class _WrongTypeError(ValueError):
    """The text is not of the key's type; the message names the type."""


class ConfigType(enum.IntEnum):
    """Types of values; the numbers are those that DescribeConfigs answers with."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Dynamic(enum.Enum):
    """Whether and where a broker key can be changed while brokers run."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


class Scope(enum.Enum):
    """Who may set a key of a managed cluster. Nothing is a tenant's unless its key says so."""

    TENANT = "tenant"
    """Whoever owns the cluster: what concerns its own data and clients alone."""
    OPERATOR = "operator"
    """Whoever runs the hosts: memory, threads, sockets, pace of work, which tenants share."""
    INTERNAL = "internal"
    """Penstock itself: identity, paths, listeners, ZooKeeper, security, super users."""


@dataclasses.dataclass(frozen=True, slots=True)
class ConfigKey:
    """One key. `default` is None where Kafka's is null.

    `lowest` and `highest` bound numbers, inclusive; `choices` bounds strings and list items;
    `check` raises ValueError with the reason for anything subtler. `tenant_lowest` and
    `tenant_highest` are narrower bounds for tenants, who share hosts. A key that `is_internal` is
    described only where it is set, as in Kafka.
    """

    name: str
    type: ConfigType
    default: Value
    doc: str
    lowest: float = -math.inf
    highest: float = math.inf
    choices: tuple[str, ...] = ()
    check: Callable[[Value], None] | None = None
    dynamic: Dynamic = Dynamic.READ_ONLY
    scope: Scope = Scope.OPERATOR
    tenant_lowest: float = -math.inf
    tenant_highest: float = math.inf
    is_internal: bool = False

    def for_tenant(self) -> ConfigKey:
        """The key with a tenant's bounds. ConfigError if it is not a tenant's."""
        if self.scope is not Scope.TENANT:
            raise ConfigError(self.name, "[hidden]", "not a tenant's to set")
        return dataclasses.replace(
            self,
            lowest=max(self.lowest, self.tenant_lowest),
            highest=min(self.highest, self.tenant_highest),
        )

    @property
    def has_effect(self) -> bool:
        """Whether anything here obeys it."""
        return not self.doc.startswith(WITHOUT_EFFECT)

    @property
    def is_sensitive(self) -> bool:
        return self.type is ConfigType.PASSWORD

    @property
    def is_read_only(self) -> bool:
        return self.dynamic is Dynamic.READ_ONLY

    def parse(self, text: str | None) -> Value:
        """The typed value of `text`. Raises ConfigError naming key, value and allowed range."""
        if text is None:
            if self.default is None:
                return None
            raise ConfigError(self.name, "null", f"must be a {self.type.name}")
        try:
            value = _convert(self.type, text.strip(_TRIMMED))
            self._check_bounds(value)
            if self.check is not None:
                self.check(value)
        except _WrongTypeError as error:
            reason = f"Not a {error}: must be {self.allowed}"
            raise ConfigError(self.name, self._shown(text), reason) from error
        except ValueError as error:
            raise ConfigError(self.name, self._shown(text), str(error)) from error
        return value

    def _shown(self, text: str) -> str:
        return "[hidden]" if self.is_sensitive else text

    def format(self, value: Value) -> str | None:
        """How a value is spelled in a properties file and in DescribeConfigs."""
        if value is None:
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, tuple):
            return ",".join(value)
        return _java_double(value) if isinstance(value, float) else str(value)

    @property
    def allowed(self) -> str:
        """The allowed values, for messages and documents."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.type is ConfigType.BOOLEAN:
            return "either true or false"
        lowest, highest = self.bounds
        low = "" if lowest == -math.inf else f"at least {_plain(lowest)}"
        high = "" if highest == math.inf else f"at most {_plain(highest)}"
        return " and ".join(part for part in (low, high) if part) or f"any {self.type.name}"

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest number, inclusive, also of keys that only have a type."""
        bits = _INTEGER_BITS.get(self.type.name)
        if bits is None:
            return self.lowest, self.highest
        return max(self.lowest, -(1 << (bits - 1))), min(self.highest, (1 << (bits - 1)) - 1)

    def _check_bounds(self, value: Value) -> None:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if not self.lowest <= value <= self.highest:
                raise ValueError(f"Value must be {self.allowed}")
        elif self.choices:
            items = value if isinstance(value, tuple) else (value,)
            if any(item not in self.choices for item in items):
                raise ValueError(f"Value must be {self.allowed}")


def _plain(bound: float) -> str:
    """A whole number in full: 2147483647 and not 2.14748e+09."""
    return (
        str(int(bound))
        if isinstance(bound, int) or (abs(bound) < 1 << 53 and bound == int(bound))
        else f"{bound:g}"
    )


def _java_double(number: float) -> str:
    """As Java spells it: 0.5, 1.0E7, 1.0E-4."""
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return repr(number)
    digits = Decimal(repr(number)).normalize().as_tuple()
    whole, *rest = map(str, digits.digits)
    power = len(digits.digits) - 1 + int(digits.exponent)
    return f"{'-' if digits.sign else ''}{whole}.{''.join(rest) or '0'}E{power}"


def _convert(kind: ConfigType, text: str) -> Value:
    if kind is ConfigType.BOOLEAN:
        if text.lower() not in ("true", "false"):
            raise _WrongTypeError("BOOLEAN")
        return text.lower() == "true"
    if kind is ConfigType.LIST:
        return tuple(item.strip(_TRIMMED) for item in text.split(",")) if text else ()
    if kind is ConfigType.DOUBLE:
        try:
            number = float(text) if text.isascii() and "_" not in text else math.nan
        except ValueError:
            raise _WrongTypeError("number of type DOUBLE") from None
        if not math.isfinite(number):
            raise _WrongTypeError("number of type DOUBLE")
        return number
    if (bits := _INTEGER_BITS.get(kind.name)) is not None:
        try:
            whole = int(text) if _WHOLE.fullmatch(text) else None
        except ValueError:
            whole = None
        if whole is None or not -(2 ** (bits - 1)) <= whole < 2 ** (bits - 1):
            raise _WrongTypeError(f"number of type {kind.name}")
        return whole
    return text
