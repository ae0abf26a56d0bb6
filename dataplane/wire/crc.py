"""CRC-32C, the checksum of record batches, by the C extension of the `crc32c` package.

The extension alone is loaded: the package around it looks its own version up among all installed
distributions when it is imported, which took a tenth of a broker's start.
"""

from __future__ import annotations

import importlib
import importlib.util
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_PACKAGE, _EXTENSION = "crc32c", "crc32c._crc32c"


def _load() -> Callable[..., int]:
    package = importlib.util.find_spec(_PACKAGE)
    places = package.submodule_search_locations if package is not None else None
    spec = PathFinder.find_spec(_EXTENSION, places) if places else None
    if spec is None or spec.loader is None:
        # Another build of the package: whatever it is made of, this is its public name.
        module = importlib.import_module(_PACKAGE)
    else:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    function: Callable[..., int] = module.crc32c
    return function


crc32c = _load()
"""`crc32c(data, value=0)`: the checksum of `data`, going on from `value`."""
