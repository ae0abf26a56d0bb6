"""A resolved set of settings: every known key has a value, typed access by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.config.key import Value


class ResolvedConfig(Mapping[str, "Value"]):
    """Values by key. `originals` is what was set, as text; the rest are defaults.

    The typed accessors raise KeyError for a key that does not exist and TypeError for one of
    another type: both are programming errors, not operators' errors.
    """

    __slots__ = ("_values", "originals")

    def __init__(self, values: Mapping[str, Value], originals: Mapping[str, str]) -> None:
        self._values = dict(values)
        self.originals = dict(originals)

    def __getitem__(self, key: str) -> Value:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def is_set(self, key: str) -> bool:
        """Whether somebody set the key, as against its default."""
        return key in self.originals

    def get_int(self, key: str) -> int:
        value = self._values[key]
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{key} is not an integer but {value!r}")
        return value

    def get_float(self, key: str) -> float:
        value = self._values[key]
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise TypeError(f"{key} is not a number but {value!r}")
        return float(value)

    def get_bool(self, key: str) -> bool:
        value = self._values[key]
        if not isinstance(value, bool):
            raise TypeError(f"{key} is not a boolean but {value!r}")
        return value

    def get_str(self, key: str) -> str:
        """A string; null reads as empty."""
        value = self._values[key]
        if value is None:
            return ""
        if not isinstance(value, str):
            raise TypeError(f"{key} is not a string but {value!r}")
        return value

    def get_list(self, key: str) -> tuple[str, ...]:
        """A list; null reads as empty."""
        value = self._values[key]
        if value is None:
            return ()
        if not isinstance(value, tuple):
            raise TypeError(f"{key} is not a list but {value!r}")
        return value
