from django.urls import path

from controlplane.runbooks import api

RUN = "runbook-runs/<str:runbook_run_id>"

urlpatterns = [
    path("runbooks", api.RunbooksView.as_view()),
    path("runbooks/<str:runbook_id>", api.RunbookView.as_view()),
    path("runbooks/<str:runbook_id>/runs", api.StartView.as_view()),
    path("runbook-runs", api.RunsView.as_view()),
    path(RUN, api.RunView.as_view()),
    path(f"{RUN}/checks/<str:check_number>", api.CheckView.as_view()),
    path(f"{RUN}/acts/<str:act_number>", api.ActView.as_view()),
    path(f"{RUN}/end", api.EndView.as_view()),
]
