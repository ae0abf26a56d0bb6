"""`/console/…` and, last of all, the single-page app for every other address."""

from django.urls import path, re_path

from console import api, assets, events, session

urlpatterns = [
    path("console/api/session", session.session_view),
    path("console/api/login", session.login_view),
    path("console/api/logout", session.logout_view),
    path("console/api/tenant", session.tenant_view),
    *api.page_urls(),
    path("console/events", events.events_view),
    path("console/events/operations/<str:operation_id>", events.operation_events_view),
    re_path(r"^console/(?P<path>.*)$", api.no_such_page),
    re_path(r"^(?P<path>.*)$", assets.spa_view),
]
