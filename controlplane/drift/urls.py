from django.urls import path

from controlplane.drift import api

urlpatterns = [path("clusters/<str:cluster_id>/drift", api.ClusterDriftView.as_view())]
