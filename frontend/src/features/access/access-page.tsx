import { Button, Tabs } from "@mantine/core";
import { IconGauge, IconKey, IconShieldLock, IconUserPlus } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Card, PartView } from "@/components/card";
import { Empty } from "@/components/empty";
import type { TableView } from "@/components/data-table";
import { PageHeader } from "@/components/page-header";
import { PlanFlow } from "@/components/plan-flow";
import { Refused } from "@/components/refused";
import { Status } from "@/components/status";
import { clearDrafts } from "@/lib/draft";
import { formatInteger } from "@/lib/format";
import { kindLabel } from "@/lib/kinds";
import { usePageOfList } from "@/lib/page";
import { useMayWrite } from "@/lib/permissions";
import type { ClientQuota, PlanInputs, PlanRequest } from "@/lib/types";
import { isRefusal } from "@/lib/problem";
import { ACCESS_TABS, sortOf } from "@/lib/search";
import { words } from "@/words/access";
import { ACL_SORTS, AclTable } from "./acl-table";
import { type AclInput, asRules } from "./acl-words";
import { AclForm } from "./acl-form";
import { CheckView } from "./check-view";
import { DeniedView } from "./denied-view";
import { DRIFT_SORTS, DriftView } from "./drift-view";
import { MatrixView } from "./matrix-view";
import { NewUserForm } from "./new-user-form";
import { QuotaForm } from "./quota-form";
import { QUOTA_SORTS, QuotaTable } from "./quota-table";
import { RotateForm } from "./rotate-form";
import { USER_SORTS, UserTable } from "./user-table";

const say = words.accessPage;

const route = getRouteApi("/app/clusters/$clusterId/access");

type Mechanism = PlanInputs<"user.retire">["mechanism"];
type Form =
  | { kind: "user" }
  | { kind: "quota"; row?: ClientQuota }
  | { kind: "acl"; principal?: string; start?: AclInput }
  | { kind: "rotate"; username: string }
  | null;

/** What was typed of one ACL is none of another's: a denied attempt has a draft of its own. */
const aclDraft = ({ principal = "", start }: Extract<Form, { kind: "acl" }>) =>
  start ? `${principal}/${JSON.stringify(start.custom)}` : principal;

/** The first tab has no word in the address. */
const asTab = (value: string | null) => ACCESS_TABS.find((tab) => tab === value && tab !== "users");

/** Of each list; what the address says is of the tab's own. */
function asked(tab: (typeof ACCESS_TABS)[number], { q, sort, page }: TableView & { q?: string }) {
  if (tab === "acls") return { q, sort: sortOf(sort, ACL_SORTS), page };
  if (tab === "quotas") return { quotas_q: q, quotas_sort: sortOf(sort, QUOTA_SORTS), quotas_page: page };
  if (tab === "drift") return { drift_q: q, drift_sort: sortOf(sort, DRIFT_SORTS), drift_page: page };
  return tab === "users" ? { users_q: q, users_sort: sortOf(sort, USER_SORTS), users_page: page } : {};
}

const amount = (total: number | undefined) => (total ? ` (${formatInteger(total)})` : "");

export function AccessPage() {
  const { clusterId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tab = search.tab ?? "users";
  const query = usePageOfList("access/{cluster_id}", { cluster_id: clusterId }, asked(tab, search));
  const [form, setForm] = useState<Form>(null);
  const [request, setRequest] = useState<PlanRequest | null>(null);
  const [removals, setRemovals] = useState(0);
  const canWrite = useMayWrite()("cluster", clusterId);
  const plan = (next: PlanRequest) => {
    setForm(null);
    setRequest(next);
  };
  const drafts = { user: `new-user/${clusterId}`, acl: `acl/${clusterId}` };
  const parts = query.data?.parts;
  const userCounts = parts?.users_counts.data;
  const aclCounts = parts?.acls_counts.data;
  const quotaCount = parts?.quotas.data?.total;
  const overlaps = parts?.overlaps.data ?? [];
  const driftCount = parts?.drift.data?.total ?? 0;
  const rotated = form?.kind === "rotate" ? form.username : null;
  const see = (view: TableView & { q?: string }) =>
    void navigate({ search: (old) => ({ ...old, ...view }), replace: true, resetScroll: false });
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader
        title={say.access}
        mark={driftCount > 0 && <Status tone="warn" label={say.changesFromOutside(driftCount)} hint={say.notAsLeft} />}
        seen={query.data?.parts.users}
        sub={say.whoMayConnect}
        actions={
          canWrite && (
            <>
              <Button variant="default" leftSection={<IconKey size={15} />} onClick={() => setForm({ kind: "acl" })}>
                {say.addAcls}
              </Button>
              <Button leftSection={<IconUserPlus size={15} />} onClick={() => setForm({ kind: "user" })}>
                {say.newUser}
              </Button>
            </>
          )
        }
      />
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(value) => void navigate({ search: { tab: asTab(value) }, replace: true })}
      >
        <Tabs.List mb={12}>
          <Tabs.Tab value="users">
            {say.tabs.users}
            {amount(userCounts?.total)}
          </Tabs.Tab>
          <Tabs.Tab value="acls">
            {say.tabs.acls}
            {amount(aclCounts?.total)}
          </Tabs.Tab>
          <Tabs.Tab value="matrix">{say.tabs.matrix}</Tabs.Tab>
          <Tabs.Tab value="check">{say.tabs.check}</Tabs.Tab>
          <Tabs.Tab value="denied">{say.tabs.denied}</Tabs.Tab>
          <Tabs.Tab value="quotas">
            {say.tabs.quotas}
            {amount(quotaCount)}
          </Tabs.Tab>
          <Tabs.Tab value="drift">
            {say.tabs.changedOutside}
            {amount(driftCount)}
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="users">
          <Card>
            <PartView query={query} name="users">
              {(rows) => (
                <UserTable
                  users={rows}
                  counts={userCounts}
                  view={search}
                  onView={see}
                  changed={parts?.drift.data?.changed_users ?? []}
                  overlaps={overlaps}
                  canWrite={canWrite}
                  onAddAcls={(username) => setForm({ kind: "acl", principal: `User:${username}` })}
                  onRotate={(username) => setForm({ kind: "rotate", username })}
                  onEndOverlap={({ username, old_mechanism, rotation }) =>
                    plan({
                      kind: "user.retire",
                      cluster_id: clusterId,
                      inputs: { username, mechanism: old_mechanism as Mechanism, rotation },
                    })
                  }
                  onDelete={(username) => plan({ kind: "user.delete", cluster_id: clusterId, inputs: { username } })}
                  empty={
                    <Empty icon={<IconUserPlus size={20} />} title={say.noUsersYet}>
                      {say.createOneForEach}
                    </Empty>
                  }
                />
              )}
            </PartView>
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="acls">
          <Card>
            <PartView query={query} name="acls">
              {(rows) => (
                <AclTable
                  key={removals}
                  acls={rows}
                  counts={aclCounts}
                  canWrite={canWrite}
                  view={search}
                  onView={see}
                  onRemove={(bindings) =>
                    plan({ kind: "acl.delete", cluster_id: clusterId, inputs: { bindings: asRules(bindings) } })
                  }
                  empty={
                    <Empty icon={<IconShieldLock size={20} />} title={say.noAclsYet}>
                      {say.withoutAnAcl}
                    </Empty>
                  }
                />
              )}
            </PartView>
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="matrix">
          <Card>
            <MatrixView
              clusterId={clusterId}
              view={search}
              onView={(view) => void navigate({ search: (old) => ({ ...old, ...view }), replace: true })}
              onCheck={(who) => void navigate({ search: { tab: "check", who } })}
            />
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="check">
          <Card>
            <CheckView
              clusterId={clusterId}
              view={search}
              onView={(view) => void navigate({ search: { tab: "check", ...view } })}
              canWrite={canWrite}
              onGrant={(bindings) =>
                plan({ kind: "acl.create", cluster_id: clusterId, inputs: { bindings: asRules(bindings) } })
              }
              onRemove={(bindings) =>
                plan({ kind: "acl.delete", cluster_id: clusterId, inputs: { bindings: asRules(bindings) } })
              }
            />
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="denied">
          <DeniedView
            clusterId={clusterId}
            managed={userCounts?.managed ?? null}
            canWrite={canWrite}
            view={search}
            onView={(view) => void navigate({ search: (old) => ({ ...old, ...view }), replace: true })}
            onGrant={(principal, start) => setForm({ kind: "acl", principal, start })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="quotas">
          <Card
            title={say.quotasPerBroker}
            aside={
              canWrite && (
                <Button size="xs" variant="default" onClick={() => setForm({ kind: "quota" })}>
                  {say.setQuotas}
                </Button>
              )
            }
          >
            <PartView query={query} name="quotas">
              {(quotas) => (
                <QuotaTable
                  quotas={quotas}
                  view={search}
                  onView={see}
                  canWrite={canWrite}
                  onChange={(row) => setForm({ kind: "quota", row })}
                  empty={
                    <Empty icon={<IconGauge size={20} />} title={say.noQuotasYet}>
                      {say.everyClientMayUseAll}
                    </Empty>
                  }
                />
              )}
            </PartView>
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="drift">
          <Card>
            <PartView query={query} name="drift">
              {(drift) => (
                <DriftView
                  clusterId={clusterId}
                  drift={drift}
                  onPlan={canWrite ? plan : undefined}
                  view={search}
                  onView={see}
                />
              )}
            </PartView>
          </Card>
        </Tabs.Panel>
      </Tabs>
      <NewUserForm
        key={form?.kind === "user" ? "open" : "away"}
        opened={form?.kind === "user"}
        draft={drafts.user}
        onClose={() => setForm(null)}
        onPlan={(inputs) => plan({ kind: "user.create", cluster_id: clusterId, inputs })}
      />
      <AclForm
        key={form?.kind === "acl" ? `open-${aclDraft(form)}` : "closed"}
        opened={form?.kind === "acl"}
        principal={form?.kind === "acl" ? form.principal : undefined}
        start={form?.kind === "acl" ? form.start : undefined}
        clusterId={clusterId}
        draft={form?.kind === "acl" ? `${drafts.acl}/${aclDraft(form)}` : "closed"}
        onClose={() => setForm(null)}
        onPlan={(bindings) => plan({ kind: "acl.create", cluster_id: clusterId, inputs: { bindings } })}
      />
      <QuotaForm
        key={form?.kind === "quota" ? `open-${form.row?.words ?? ""}` : "no-quota"}
        opened={form?.kind === "quota"}
        row={form?.kind === "quota" ? form.row : undefined}
        clusterId={clusterId}
        onClose={() => setForm(null)}
        onPlan={(inputs) => plan({ kind: "quota.set", cluster_id: clusterId, inputs })}
      />
      <RotateForm
        username={rotated}
        overlap={overlaps.find((one) => one.username === rotated)}
        onClose={() => setForm(null)}
        onPlan={(inputs) => plan({ kind: "user.rotate", cluster_id: clusterId, inputs })}
      />
      <PlanFlow
        request={request}
        title={request ? kindLabel(request.kind) : ""}
        onClose={() => setRequest(null)}
        onStarted={() => {
          if (request?.kind === "user.create") clearDrafts(drafts.user);
          if (request?.kind === "acl.create") clearDrafts(drafts.acl);
          // What was chosen to be removed is chosen no more.
          if (request?.kind === "acl.delete") setRemovals(removals + 1);
        }}
      />
    </>
  );
}
