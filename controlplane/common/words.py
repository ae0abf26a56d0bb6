"""Small words of plans and refusals. Pure."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 partition`, `2 partitions`; `plural` where an s is not enough."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
