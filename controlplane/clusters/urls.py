from django.urls import path

from controlplane.clusters import api

urlpatterns = [
    path("clusters", api.ClustersView.as_view()),
    path("clusters/<str:cluster_id>", api.ClusterView.as_view()),
    path("clusters/<str:cluster_id>/client-config", api.ClientConfigView.as_view()),
    path("clusters/<str:cluster_id>/versions", api.ClusterVersionsView.as_view()),
    path("clusters/<str:cluster_id>/brokers/<str:broker_id>/log", api.BrokerLogView.as_view()),
]
