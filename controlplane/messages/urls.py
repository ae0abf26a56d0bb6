from django.urls import path

from controlplane.messages import api

urlpatterns = [
    path("clusters/<str:cluster_id>/topics/<str:name>/messages", api.MessagesView.as_view()),
]
