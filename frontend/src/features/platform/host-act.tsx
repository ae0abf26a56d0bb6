import { TextInput } from "@mantine/core";
import { useState } from "react";
import { Lines } from "@/components/card";
import { FormModal } from "@/components/form-modal";
import { Notice } from "@/components/notice";
import { Warnings } from "@/components/plan-review";
import { ProblemPanel } from "@/components/problem-panel";
import { type HostAct, useChange, useHostPlan } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { hostSummary, moveText, refusalText } from "@/lib/host-said";
import type { HostPlan, PlatformHost } from "@/lib/types";
import { words } from "@/words/platform";

const say = words.hostAct;
const STATES = { cordon: "cordoned", uncordon: "active", drain: "draining" } as const;

interface HostActProps {
  host: PlatformHost;
  act: HostAct;
  onClose: () => void;
  onDone?: (() => void) | undefined;
}

/** What an act on a host would mean now, and its confirmation; nothing happens before that. */
export function HostActForm({ host, act, onClose, onDone }: HostActProps) {
  const [typed, setTyped] = useState("");
  const [reason, setReason] = useState("");
  const plan = useHostPlan(host.host_id, act);
  const send = useChange(
    async (found: HostPlan): Promise<unknown> => {
      const blanks = { host_id: host.host_id };
      if (act === "remove") return api.delete("/api/v1/operator/hosts/{host_id}", { blanks, ifMatch: host.etag });
      if (act === "declare-lost") {
        const body = { plan_hash: found.plan_hash, confirm: typed, reason };
        return api.post("/api/v1/operator/hosts/{host_id}/loss", { blanks, body });
      }
      return api.put("/api/v1/operator/hosts/{host_id}", {
        blanks,
        body: { state: STATES[act], reason },
        ifMatch: host.etag,
      });
    },
    () => say.done[act](host.host_id),
  );
  const found = plan.data;
  const phrase = found?.confirm_phrase ?? null;
  const ready = found !== undefined && found.refused.length === 0 && (phrase === null || typed === phrase);
  return (
    <FormModal
      title={say.title[act](host.host_id)}
      opened
      onClose={onClose}
      submit={say.submit[act]}
      danger={act === "declare-lost" || act === "remove"}
      ready={ready}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => {
        if (!found) return;
        send.mutate(found, {
          onSuccess: () => {
            onClose();
            onDone?.();
          },
        });
      }}
    >
      {plan.isPending && <Lines rows={3} />}
      {plan.isError && <ProblemPanel error={plan.error} onRetry={() => void plan.refetch()} />}
      {found && <PlanOfHost plan={found} />}
      {found && act !== "remove" && (
        <TextInput
          label={say.reason}
          description={say.keptWithTheDecision}
          size="sm"
          maxLength={300}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      )}
      {phrase !== null && found?.refused.length === 0 && (
        <TextInput
          label={say.typeToConfirm(phrase)}
          size="sm"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
    </FormModal>
  );
}

function PlanOfHost({ plan }: { plan: HostPlan }) {
  return (
    <>
      <p style={{ margin: 0 }}>{hostSummary(plan)}</p>
      {plan.refused.length > 0 && (
        <Notice tone="bad" title={say.notNow}>
          <ul style={{ margin: "4px 0", paddingLeft: 18 }} aria-label={say.notNow}>
            {plan.refused.map((row) => (
              <li key={row.code}>{refusalText(row)}</li>
            ))}
          </ul>
        </Notice>
      )}
      <Warnings warnings={plan.warnings} />
      {plan.brokers.length > 0 && (
        <div style={{ overflowX: "auto" }}>
          <table className="ps-table" aria-label={say.whereBrokersHaveRoom}>
            <thead>
              <tr>
                <th scope="col">{say.broker}</th>
                <th scope="col">{say.wouldFitOn}</th>
              </tr>
            </thead>
            <tbody>
              {plan.brokers.map((row) => (
                <tr key={`${row.cluster_id}-${row.broker_id}`}>
                  <td>
                    {row.tenant}/{row.cluster}/{row.broker_id}
                  </td>
                  <td style={{ overflowWrap: "anywhere" }}>
                    {row.target_host_id === null ? (
                      <span className="ps-warn">{say.nowhere}</span>
                    ) : (
                      <span className="ps-mono">{row.target_host_id}</span>
                    )}{" "}
                    <span className="ps-muted">{moveText(row)}</span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
