"""One way to make a login, for invitations, operators and `manage.py`."""

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from controlplane.administration.inputs import check_password, check_username
from controlplane.common.problems import field_problem


def login_create(
    *, username: str, email: str = "", is_operator: bool = False, password: str | None = None
) -> User:
    """A user; without a password, one who can sign in only after choosing it by a link.

    Raises Invalid: the name is taken or none, or the password too weak.
    """
    check_username(username)
    user = User(username=username, email=email, is_staff=is_operator)
    if password is not None:
        check_password(password, user)
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as error:  # somebody was quicker
        raise field_problem("/username", "This user name is taken.", "name-taken") from error
    return user
