/** One of everything that is administered, as `samples` has the rest. */
import type {
  ApiKey,
  Invitation,
  Member,
  PlatformHost,
  PlatformUser,
  ServiceAccount,
  TenantSummary,
} from "@/lib/types";
import { AT, ETAG, host, MADE, over } from "./samples";

export const member = over<Member>({
  username: "ada",
  role: "owner",
  grants: [],
  is_active: true,
  last_login_at: AT,
  etag: ETAG,
});
export const invitation = over<Invitation>({
  id: "iv_1",
  role: "viewer",
  note: "Grace",
  state: "open",
  created_by: "user:ada",
  created_at: AT,
  expires_at: "2026-11-28T10:00:00Z",
  accepted_at: null,
  accepted_by: null,
  etag: ETAG,
});
export const serviceAccount = over<ServiceAccount>({
  id: "sa_1",
  name: "pipeline",
  description: "nightly loads",
  disabled: false,
  disabled_at: null,
  live_keys: 1,
  created_by: "user:ada",
  ...MADE,
});
export const apiKey = over<ApiKey>({
  id: "ak_1",
  name: "ci",
  service_account: { id: "sa_1", name: "pipeline" },
  scope: "read",
  grants: [],
  prefix: "psk_abc",
  created_by: "user:ada",
  created_at: AT,
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
  etag: ETAG,
});
export const tenantSummary = over<TenantSummary>({
  id: "tn_1",
  slug: "acme",
  name: "Acme",
  state: "active",
  members: 3,
  owners: 1,
  clusters: 2,
  ...MADE,
});
export const platformUser = over<PlatformUser>({
  username: "ada",
  email: "",
  is_active: true,
  is_operator: false,
  has_password: true,
  tenants: [{ slug: "acme", name: "Acme", role: "owner" }],
  created_at: AT,
  last_login_at: AT,
  etag: ETAG,
});
export const platformHost = over<PlatformHost>({
  ...host(),
  alive_since: AT,
  described_at: AT,
  drained_by: null,
  etag: ETAG,
  broker_list: [
    {
      broker_id: 1,
      cluster: "orders",
      cluster_id: "c1",
      tenant: "acme",
      observed_state: "running",
      observed_at: AT,
    },
  ],
});
