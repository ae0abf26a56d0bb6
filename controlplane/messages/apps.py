from django.apps import AppConfig


class MessagesConfig(AppConfig):
    name = "controlplane.messages"
    label = "messages"
