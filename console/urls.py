"""`/console/…` and, last of all, the single-page app for every other address."""

from django.urls import path, re_path

from console import api, assets, events, exports, favourites, message_events, oidc, search

urlpatterns = [
    path("console/api/session", api.SessionView.as_view()),
    path("console/api/login", api.LoginView.as_view()),
    path("console/api/logout", api.LogoutView.as_view()),
    path("console/api/tenant", api.TenantChoiceView.as_view()),
    path("console/api/password", api.PasswordView.as_view()),
    path("console/api/invitation", api.InvitationView.as_view()),
    path("console/api/invitation/acceptance", api.AcceptanceView.as_view()),
    path("console/oidc/login", oidc.login_view),
    path("console/oidc/callback", oidc.callback_view),
    path("console/api/search", search.SearchView.as_view()),
    *api.page_urls(),
    *exports.export_urls(),
    *favourites.favourite_urls(),
    path("console/events", events.events_view),
    path("console/events/operations/<str:operation_id>", events.operation_events_view),
    path(
        "console/events/messages/<str:cluster_id>/<path:topic>",
        message_events.message_events_view,
    ),
    re_path(r"^console/(?P<path>.*)$", api.no_such_page),
    re_path(r"^(?P<path>.*)$", assets.spa_view),
]
