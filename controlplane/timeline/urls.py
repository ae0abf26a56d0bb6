from django.urls import path

from controlplane.timeline import api

urlpatterns = [
    path("timeline", api.TimelineView.as_view()),
    path("deployments", api.DeploymentsView.as_view()),
    path("deployments/<str:event_id>", api.DeploymentView.as_view()),
]
