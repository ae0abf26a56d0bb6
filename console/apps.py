from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """The web console's server side: sign-in, page read models, live events, the built app."""

    name = "console"
