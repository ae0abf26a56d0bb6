"""What may be a user name and a password."""

import re

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from controlplane.common.problems import field_problem

HOST_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z"
JOIN_LIFETIME_S, JOIN_LIFETIME_MAX_S = 3_600, 7 * 24 * 3_600
USERNAME_MAX = 150
PASSWORD_MAX = 1_000
USERNAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._@+-]{{0,{USERNAME_MAX - 1}}}")


def check_username(username: str) -> None:
    """Raises Invalid: it is none, or somebody has it in whatever case."""
    if not USERNAME.fullmatch(username):
        raise field_problem(
            "/username",
            "A user name is letters, digits and . _ @ + -, and begins with a letter or digit.",
        )
    if User.objects.filter(username__iexact=username).exists():
        raise field_problem("/username", "This user name is taken.", "name-taken")


def check_password(password: str, user: User, *, pointer: str = "/password") -> None:
    """Raises Invalid with what the configured validators find."""
    if len(password) > PASSWORD_MAX:
        raise field_problem(pointer, f"A password has at most {PASSWORD_MAX} characters.")
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise field_problem(pointer, " ".join(error.messages), "weak-password") from error
