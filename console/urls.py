"""`/console/…` and, last of all, the single-page app for every other address."""

from django.urls import path, re_path

from console import assets, events, session, views

urlpatterns = [
    path("console/api/session", session.session_view),
    path("console/api/login", session.login_view),
    path("console/api/logout", session.logout_view),
    path("console/api/tenant", session.tenant_view),
    path("console/api/pages/<str:name>", views.page_view),
    path("console/api/pages/<str:name>/<str:first>", views.page_view),
    path("console/api/pages/<str:name>/<str:first>/<path:rest>", views.page_view),
    path("console/events", events.events_view),
    path("console/events/operations/<str:operation_id>", events.operation_events_view),
    re_path(r"^console/(?P<path>.*)$", views.no_such_door),
    re_path(r"^(?P<path>.*)$", assets.spa_view),
]
