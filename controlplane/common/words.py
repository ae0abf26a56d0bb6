"""Small words of plans and refusals. Pure."""

DURATIONS_MS = (
    ("day", 86_400_000),
    ("hour", 3_600_000),
    ("minute", 60_000),
    ("second", 1_000),
    ("millisecond", 1),
)
SPOKEN_PARTS = 2


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
