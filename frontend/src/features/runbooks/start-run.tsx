import { Button, Select, TextInput } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useState } from "react";
import { Card, Lines } from "@/components/card";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { useChange } from "@/lib/administration";
import { useAlert } from "@/lib/alerts";
import { api } from "@/lib/api-client";
import { startOf, type Subject, type Subjects, subjectsOf, wantedBy } from "@/lib/runbooks";
import type { Alert, Runbook, RunbookRun } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";
import { words } from "@/words/runbooks";

const say = words.startRun;

interface StartRunProps {
  runbook: Runbook;
  /** Where one came from: what the run is about is filled in from it. */
  alertId: string | undefined;
  given: Subjects;
  onStarted: (run: RunbookRun) => void;
}

export function StartRun(props: StartRunProps) {
  return props.alertId === undefined ? <StartForm {...props} /> : <OfAlert {...props} alertId={props.alertId} />;
}

function OfAlert(props: StartRunProps & { alertId: string }) {
  const query = useAlert(props.alertId);
  if (query.isPending) return <Lines rows={2} />;
  if (!query.data)
    return (
      <>
        <Notice tone="warn" title={say.theAlertThatLedHere}>
          {say.whatTheRunIsAbout}
        </Notice>
        <StartForm {...props} alertId={undefined} />
      </>
    );
  return <StartForm key={props.alertId} {...props} alert={query.data} />;
}

const LABELS: Record<Subject, string> = {
  cluster: say.cluster,
  group: say.group,
  topic: say.topic,
  broker: say.brokerId,
  operation: say.operationId,
  user: say.user,
};

function StartForm({ runbook, alertId, alert, given, onStarted }: StartRunProps & { alert?: Alert }) {
  const wanted = wantedBy(runbook);
  const [about, setAbout] = useState<Subjects>(() => {
    const said = { ...(alert ? subjectsOf(alert) : {}), ...onlySaid(given) };
    return Object.fromEntries(wanted.map((name) => [name, said[name] ?? ""]));
  });
  const clusters = useOverview().data?.parts.clusters.data ?? [];
  const send = useChange(() =>
    api.post("/api/v1/runbooks/{runbook_id}/runs", {
      blanks: { runbook_id: runbook.id },
      body: startOf(about, alert ? alertId : undefined),
    }),
  );
  const set = (name: Subject, value: string) => setAbout((old) => ({ ...old, [name]: value }));
  const isBroken = about.broker !== undefined && about.broker !== "" && !/^\d+$/.test(about.broker);
  return (
    <Card title={say.followIt} padded>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBroken && !send.isPending) send.mutate(undefined, { onSuccess: onStarted });
        }}
      >
        <div className="ps-start">
          {wanted.map((name) =>
            name === "cluster" ? (
              <Select
                key={name}
                label={LABELS.cluster}
                placeholder={say.chooseOne}
                allowDeselect={false}
                data={clusters.map((cluster) => ({ value: cluster.id, label: cluster.name }))}
                value={about.cluster || null}
                onChange={(value) => set("cluster", value ?? "")}
              />
            ) : (
              <TextInput
                key={name}
                label={LABELS[name]}
                autoComplete="off"
                error={name === "broker" && isBroken ? say.aNumber : undefined}
                value={about[name] ?? ""}
                onChange={(event) => set(name, event.currentTarget.value)}
              />
            ),
          )}
          <Button
            type="submit"
            size="sm"
            leftSection={<IconPlayerPlay size={15} />}
            loading={send.isPending}
            disabled={isBroken}
          >
            {say.beginARun}
          </Button>
        </div>
        <p className="ps-muted" style={{ margin: "8px 0 0", fontSize: "0.75rem" }}>
          {say.aRunRecordsEachCheck(alert ? say.filledInFromTheAlert(alert.summary) : "")}
        </p>
        {send.isError && <ProblemPanel error={send.error} />}
      </form>
    </Card>
  );
}

const onlySaid = (given: Subjects): Subjects =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ""));
