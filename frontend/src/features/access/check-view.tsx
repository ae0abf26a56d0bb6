import { Button, Group, Select, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { Lines } from "@/components/card";
import { AclDiff } from "@/components/diffs/acl-diff";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { RelTime } from "@/components/rel-time";
import { UserBox } from "@/components/user-box";
import { type AccessDecision, type DecisionQuery, useAccessDecision } from "@/lib/access";
import { RESOURCE_TYPES, type ResourceType } from "@/lib/search";
import { aclSentence, operationWords, typeWords } from "@/lib/acl-words";
import type { AclBinding } from "@/lib/types";
import { words } from "@/words/access";
import { OPERATIONS, templateWords } from "./acl-words";

const say = words.checkView;

export interface CheckSearch {
  who?: string;
  op?: string;
  type?: ResourceType;
  name?: string;
  host?: string;
}

interface CheckViewProps {
  clusterId: string;
  view: CheckSearch;
  onView: (view: CheckSearch) => void;
  canWrite: boolean;
  onGrant: (bindings: AclBinding[]) => void;
  onRemove: (bindings: AclBinding[]) => void;
}

const HEADING = { fontSize: "0.8125rem", margin: "0 0 4px" } as const;
const TONES = { allowed: "ok", denied: "bad", unknown: "warn" } as const;
const operationsOn = (type: ResourceType): string[] => OPERATIONS[type].filter((operation) => operation !== "ALL");

/** "Can X do Y on Z, and why (not)": the question is the page's address. */
export function CheckView({ clusterId, view, onView, canWrite, onGrant, onRemove }: CheckViewProps) {
  const [asked, setAsked] = useState<CheckSearch>({
    ...view,
    type: view.type ?? "TOPIC",
    op: view.op ?? "READ",
  });
  const type = asked.type ?? "TOPIC";
  const isWhole = Boolean(view.who && view.op && view.type && (view.type === "CLUSTER" || view.name));
  const query = useAccessDecision(
    clusterId,
    isWhole
      ? {
          principal: view.who,
          operation: view.op as DecisionQuery["operation"],
          resource_type: view.type,
          resource_name: view.type === "CLUSTER" ? undefined : view.name,
          host: view.host,
        }
      : null,
  );
  const set = (change: CheckSearch) => setAsked({ ...asked, ...change });
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    const who = asked.who?.trim() ?? "";
    onView({
      op: asked.op,
      type,
      who: who && !who.includes(":") ? `User:${who}` : who || undefined,
      name: type === "CLUSTER" ? undefined : asked.name?.trim() || undefined,
      host: asked.host?.trim() || undefined,
    });
  };
  return (
    <Stack gap="md" p={14}>
      <form onSubmit={submit} aria-label={say.checkAccess}>
        <Group align="flex-end" gap={8}>
          <UserBox
            label={say.can}
            placeholder={say.examplePrincipal}
            size="sm"
            clusterId={clusterId}
            prefix="User:"
            value={asked.who ?? ""}
            onChange={(who) => set({ who })}
          />
          <Select
            label={say.do}
            size="sm"
            allowDeselect={false}
            data={operationsOn(type).map((value) => ({ value, label: operationWords(value) }))}
            value={asked.op ?? null}
            onChange={(op) => op && set({ op })}
          />
          <Select
            label={say.on}
            size="sm"
            allowDeselect={false}
            data={RESOURCE_TYPES.map((value) => ({ value, label: typeWords(value) }))}
            value={type}
            onChange={(next) => next && set({ type: next, op: operationsOn(next)[0] })}
          />
          {type !== "CLUSTER" && (
            <TextInput
              label={say.called}
              placeholder="orders.created"
              size="sm"
              spellCheck={false}
              value={asked.name ?? ""}
              onChange={(event) => set({ name: event.currentTarget.value })}
            />
          )}
          <TextInput
            label={say.fromAddress}
            placeholder={say.anyThatNoAclNames}
            size="sm"
            value={asked.host ?? ""}
            onChange={(event) => set({ host: event.currentTarget.value })}
          />
          <Button type="submit" disabled={!asked.who?.trim() || (type !== "CLUSTER" && !asked.name?.trim())}>
            {say.check}
          </Button>
        </Group>
      </form>
      {!isWhole && (
        <span className="ps-muted" style={{ fontSize: "0.8125rem" }}>
          {say.deniedIsListedElsewhere}
        </span>
      )}
      {isWhole && query.isPending && <Lines rows={3} />}
      {query.isError && <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && isWhole && (
        <Answer decision={query.data} canWrite={canWrite} onGrant={onGrant} onRemove={onRemove} />
      )}
    </Stack>
  );
}

interface AnswerProps extends Pick<CheckViewProps, "canWrite" | "onGrant" | "onRemove"> {
  decision: AccessDecision;
}

function Answer({ decision, canWrite, onGrant, onRemove }: AnswerProps) {
  const { verdict, deciding, missing, reason, unknown_reason, other_hosts, acls } = decision;
  const isDenied = reason === "deny-rule";
  const titles = decision.templates.map((name) => templateWords(name).title);
  return (
    <Stack gap="sm">
      <Notice tone={TONES[verdict]} title={say.verdicts[verdict]}>
        {decision.text}
        {unknown_reason && verdict === "unknown" && ` ${unknown_reason}`}
      </Notice>
      {deciding.length > 0 && (
        <section>
          <h2 style={HEADING}>{isDenied ? say.aclsThatDenyIt : say.aclsThatAllowIt}</h2>
          <ul aria-label={say.decidingAcls} style={{ margin: 0, paddingInlineStart: 18, fontSize: "0.8125rem" }}>
            {deciding.map((acl) => (
              <li key={JSON.stringify(acl)}>{aclSentence(acl)}</li>
            ))}
          </ul>
          {isDenied && canWrite && (
            <Button mt={8} size="xs" color="red" variant="light" onClick={() => onRemove(deciding)}>
              {say.planToRemove}
            </Button>
          )}
        </section>
      )}
      {missing.length > 0 && (
        <section>
          <h2 style={HEADING}>{isDenied ? say.missingToo : say.missing}</h2>
          <AclDiff bindings={missing} added />
          {titles.length > 0 && (
            <p className="ps-muted" style={{ margin: "4px 0", fontSize: "0.8125rem" }}>
              {say.partOfTemplates(titles.length, titles.join(", "))}
            </p>
          )}
          {canWrite && (
            <Button mt={4} size="xs" variant="default" onClick={() => onGrant(missing)}>
              {say.planToAllow}
            </Button>
          )}
        </section>
      )}
      {other_hosts.length > 0 && <Notice tone="info">{say.anotherAnswerFrom(other_hosts.join(", "))}</Notice>}
      <span className="ps-muted" style={{ fontSize: "0.75rem" }}>
        {acls.as_of ? say.byAclsAsOf(<RelTime at={acls.as_of} />) : say.bySettingsNow}
        {acls.stale_reason && ` ${say.aclsAsLastRead(acls.stale_reason)}`}
      </span>
    </Stack>
  );
}
