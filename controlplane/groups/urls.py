from django.urls import path

from controlplane.groups import api

urlpatterns = [
    path("clusters/<str:cluster_id>/groups", api.GroupsView.as_view()),
    path("clusters/<str:cluster_id>/groups/<path:group>", api.GroupView.as_view()),
]
