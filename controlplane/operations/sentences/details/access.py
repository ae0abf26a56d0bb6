"""What steps say that change users, their passwords, rules and quotas. Pure."""

from collections.abc import Mapping
from typing import Final

_RULES = "{rules:one=# rule|other=# rules}"

ACCESS: Final[Mapping[str, str]] = {
    "user/acls": "{acls:one=# ACL|other=# ACLs}",
    "user/not-seen": "the user is not seen yet",
    "user/still-seen": "the user is still seen",
    "user/left": "the user or its rules are still seen",
    "user/not-there": "the user does not exist",
    "user/gone": "the user is gone",
    "acl/rules": _RULES,
    "acl/not-seen": f"{_RULES} not seen yet",
    "acl/still-seen": f"{_RULES} still seen",
    "acl/differ": "{missing:one=# rule|other=# rules} not seen yet, {left} still seen",
    "login/mechanisms": "{mechanisms}",
    "login/none": "no login by {mechanisms} yet",
    "login/gone": "its login is gone",
    "login/gone-already": "gone already",
    "login/still-seen": "a login by {mechanism} is still seen",
    "login/new-still-seen": "the login by {mechanism} is still seen",
    "password/old-unknown": "the old password is not known",
    "password/old-gone": "the old password is gone",
    "quotas/differ": "the quotas are others still",
    "quotas/not-back": "the quotas of before are not seen yet",
}
