from django.urls import path

from controlplane.administration.api import host_tokens, hosts, operator, tenant

urlpatterns = [
    path("members", tenant.MembersView.as_view()),
    path("members/<str:username>", tenant.MemberView.as_view()),
    path("invitations", tenant.InvitationsView.as_view()),
    path("invitations/<str:invitation_id>", tenant.InvitationView.as_view()),
    path("service-accounts", tenant.ServiceAccountsView.as_view()),
    path("service-accounts/<str:account_id>", tenant.ServiceAccountView.as_view()),
    path("api-keys/<str:key_id>/rotation", tenant.KeyRotationView.as_view()),
    path("operator/tenants", operator.OperatorTenantsView.as_view()),
    path("operator/tenants/<str:tenant_id>", operator.OperatorTenantView.as_view()),
    path("operator/tenants/<str:tenant_id>/members", operator.OperatorMembersView.as_view()),
    path("operator/users", operator.OperatorUsersView.as_view()),
    path("operator/users/<str:username>", operator.OperatorUserView.as_view()),
    path("operator/users/<str:username>/link", operator.OperatorUserLinkView.as_view()),
    path("operator/host-tokens", host_tokens.OperatorHostTokensView.as_view()),
    path("operator/host-tokens/<str:token_id>", host_tokens.OperatorHostTokenView.as_view()),
    path("operator/hosts", hosts.OperatorHostsView.as_view()),
    path("operator/hosts/<str:host_id>", hosts.OperatorHostView.as_view()),
    path("operator/hosts/<str:host_id>/drain", hosts.OperatorHostDrainView.as_view()),
    path("operator/hosts/<str:host_id>/address", hosts.OperatorHostAddressView.as_view()),
    path("operator/hosts/<str:host_id>/zookeeper", hosts.OperatorHostZooKeeperView.as_view()),
    path("operator/hosts/<str:host_id>/events", hosts.OperatorHostEventsView.as_view()),
    path("operator/hosts/<str:host_id>/loss", hosts.OperatorHostLossView.as_view()),
    path("operator/hosts/<str:host_id>/plans/<str:act>", hosts.OperatorHostPlanView.as_view()),
    path("operator/placement", hosts.OperatorPlacementView.as_view()),
]
