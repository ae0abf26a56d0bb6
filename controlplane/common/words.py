"""Small words of plans and refusals. Pure."""

DURATIONS_MS = (
    ("day", 86_400_000),
    ("hour", 3_600_000),
    ("minute", 60_000),
    ("second", 1_000),
    ("millisecond", 1),
)
SPOKEN_PARTS = 2
BYTES_PER_UNIT = 1024
WHOLE_FROM = 100
"""From here on a size is said without decimals."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 partition`, `2 partitions`; `plural` where an s is not enough."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def lasting(duration_ms: int) -> str:
    """`7 days`, `1 hour 30 minutes`; of more than two units the largest two, with `about`."""
    found, left_ms = [], duration_ms
    for noun, unit_ms in DURATIONS_MS:
        number, left_ms = divmod(left_ms, unit_ms)
        if number:
            found.append(counted(number, noun))
    text = " ".join(found[:SPOKEN_PARTS]) or counted(0, "millisecond")
    return f"about {text}" if len(found) > SPOKEN_PARTS else text


def storable(text: str) -> str:
    """With `?` for what neither UTF-8 nor PostgreSQL keeps: half surrogate pairs and nulls."""
    return text.encode(errors="replace").decode().replace("\0", "?")


SIZE_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")


def sized(number_bytes: int) -> str:
    """`1000 bytes`; from 1 KiB on in its unit and exactly: `1.5 GiB (1610612736 bytes)`."""
    exact = counted(number_bytes, "byte")
    size = float(number_bytes)
    unit = ""
    for unit_next in SIZE_UNITS:
        if size < BYTES_PER_UNIT:
            break
        size, unit = size / BYTES_PER_UNIT, unit_next
    if not unit or size >= BYTES_PER_UNIT:
        return exact
    text = f"{size:.0f}" if size >= WHOLE_FROM else f"{size:.2f}".rstrip("0").rstrip(".")
    return f"{text} {unit} ({exact})"
