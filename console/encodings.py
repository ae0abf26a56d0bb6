"""What a request's `Accept-Encoding` takes (RFC 9110 §12.5.3)."""

KNOWN = ("br", "gzip")
"""What we can send."""

ITEMS_MAX = 32
"""Of a header: no browser names as many; what follows is not read."""


def accepted_encodings(header: str) -> frozenset[str]:
    """Those of `KNOWN` that the header names with a weight above 0, by name or by `*`."""
    weights: dict[str, float] = {}
    for item in header.split(",")[:ITEMS_MAX]:
        name, _, rest = item.partition(";")
        weights.setdefault(name.strip().lower(), _weight(rest))
    others = weights.get("*", 0.0)
    return frozenset(name for name in KNOWN if weights.get(name, others) > 0)


def _weight(parameters: str) -> float:
    """1 without one; 0, which refuses, for what is no number."""
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
