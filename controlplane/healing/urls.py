from django.urls import path

from controlplane.healing import api

HEALING = "clusters/<str:cluster_id>/healing"

urlpatterns = [
    path(HEALING, api.HealingView.as_view()),
    path(f"{HEALING}/cases/<str:case_id>/dismissal", api.DismissalView.as_view()),
]
