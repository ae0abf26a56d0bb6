from django.urls import path

from controlplane.reassignments import api

urlpatterns = [
    path("clusters/<str:cluster_id>/reassignments", api.ReassignmentsView.as_view()),
]
