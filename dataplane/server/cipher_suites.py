"""`ssl.cipher.suites`: the names that Kafka's operators write (IANA's), in those of OpenSSL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_BULK = {
    "AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "AES_128_CBC_SHA256": "AES128-SHA256",
    "AES_128_CBC_SHA": "AES128-SHA",
    "AES_256_CBC_SHA": "AES256-SHA",
}
_CHACHA = {"CHACHA20_POLY1305_SHA256": "CHACHA20-POLY1305"}
_BY_EXCHANGE = {
    "ECDHE_ECDSA": ("ECDHE-ECDSA-", _BULK | _CHACHA | {"AES_256_CBC_SHA384": "AES256-SHA384"}),
    "ECDHE_RSA": ("ECDHE-RSA-", _BULK | _CHACHA | {"AES_256_CBC_SHA384": "AES256-SHA384"}),
    "DHE_RSA": ("DHE-RSA-", _BULK | _CHACHA | {"AES_256_CBC_SHA256": "AES256-SHA256"}),
    "RSA": ("", _BULK | {"AES_256_CBC_SHA256": "AES256-SHA256"}),
}

TLS_1_2: Final = {
    f"TLS_{exchange}_WITH_{bulk}": prefix + spelled
    for exchange, (prefix, bulks) in _BY_EXCHANGE.items()
    for bulk, spelled in bulks.items()
}
"""Suites of TLS 1.2 by the name of IANA."""

TLS_1_3: Final = frozenset(
    {"TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"}
)
"""All that OpenSSL serves unasked. Python's library offers no choice among them."""


def chosen(names: Iterable[str]) -> tuple[str, bool]:
    """(OpenSSL's list for TLS 1.2, whether TLS 1.3 is served). ValueError says what cannot be."""
    wanted = [name for name in names if name]
    unknown = [name for name in wanted if name not in TLS_1_2 and name not in TLS_1_3]
    if unknown:
        raise ValueError(f"unknown cipher suites: {', '.join(unknown)}")
    of_1_3 = TLS_1_3.intersection(wanted)
    if of_1_3 and of_1_3 != TLS_1_3:
        raise ValueError(
            f"suites of TLS 1.3 are served all or none; missing: "
            f"{', '.join(sorted(TLS_1_3 - of_1_3))}"
        )
    return ":".join(TLS_1_2[name] for name in wanted if name in TLS_1_2), bool(of_1_3)
