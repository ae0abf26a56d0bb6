import { Button, Checkbox, Group, Modal, NumberInput, Stack, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { BlastRadius } from "@/components/blast-radius";
import { Notice } from "@/components/notice";
import { Warnings } from "@/components/plan-review";
import { OperationStatus } from "@/components/status";
import { TERMINAL } from "@/lib/operations";
import { summaryText } from "@/lib/sentences";
import { errorText } from "@/lib/step-details";
import type { PlanRequest } from "@/lib/types";
import { words } from "@/words/topics";
import type { BulkAction } from "./bulk-bar";
import { type BulkRow, planAll, runAll } from "./bulk-run";

const say = words.bulk;

const HOUR_MS = 3_600_000;

interface BulkDialogProps {
  clusterId: string;
  action: BulkAction;
  names: string[];
  onClose: () => void;
}

/** Asks for what is missing, shows what each plan puts at risk, then what came of each. */
export default function BulkDialog({ clusterId, action, names, onClose }: BulkDialogProps) {
  const [hours, setHours] = useState<number | string>(24);
  const [forever, setForever] = useState(false);
  const [retentionMs, setRetentionMs] = useState<string | null>(null);
  const isReady = action === "delete" || retentionMs !== null;
  const request = (name: string): PlanRequest =>
    action === "delete"
      ? { kind: "topic.delete", cluster_id: clusterId, inputs: { name } }
      : { kind: "topic.update", cluster_id: clusterId, inputs: { name, configs: { "retention.ms": retentionMs } } };
  const title = action === "delete" ? say.deleteTopics(names.length) : say.changeRetentionOf(names.length);
  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeButtonProps={{ "aria-label": say.close }}>
      {isReady ? (
        <Review action={action} names={names} request={request} onClose={onClose} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (forever) setRetentionMs("-1");
            else if (Number(hours) > 0) setRetentionMs(String(Math.round(Number(hours) * HOUR_MS)));
          }}
        >
          <Stack gap="md">
            <NumberInput
              label={say.keepRecordsForHours}
              min={0.01}
              value={hours}
              onChange={setHours}
              disabled={forever}
              data-autofocus
            />
            <Checkbox
              label={say.forEver}
              checked={forever}
              onChange={(event) => setForever(event.currentTarget.checked)}
            />
            <Group justify="flex-end">
              <Button type="submit">{say.reviewPlans}</Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}

interface ReviewProps {
  action: BulkAction;
  names: string[];
  request: (name: string) => PlanRequest;
  onClose: () => void;
}

function Review({ action, names, request, onClose }: ReviewProps) {
  const client = useQueryClient();
  const [rows, setRows] = useState<Map<string, BulkRow>>(new Map());
  const [stage, setStage] = useState<"planning" | "review" | "running" | "done">("planning");
  const [typed, setTyped] = useState("");
  const abort = useRef(new AbortController());
  const ask = useRef(request);
  const put = (row: BulkRow) => setRows((old) => new Map(old).set(row.name, row));
  useEffect(() => {
    let isCurrent = true;
    void planAll(names, ask.current, (row) => isCurrent && put(row)).then(() => isCurrent && setStage("review"));
    return () => {
      isCurrent = false;
    };
  }, [names]);
  useEffect(() => {
    abort.current = new AbortController();
    return () => abort.current.abort();
  }, []);
  const planned = [...rows.values()].filter(({ plan }) => plan !== undefined);
  const phrase = (action === "delete" ? say.phraseToDelete : say.phraseToChange)(planned.length);
  const begin = async () => {
    setStage("running");
    await runAll(planned, abort.current.signal, put);
    setStage("done");
    void client.invalidateQueries({ queryKey: ["page"] });
  };
  const failed = [...rows.values()].filter(
    ({ problem, operation }) =>
      problem ?? (operation && TERMINAL.has(operation.state) && operation.state !== "succeeded"),
  ).length;
  return (
    <form
      aria-label={say.plans}
      onSubmit={(event) => {
        event.preventDefault();
        if (stage === "review" && planned.length > 0 && typed === phrase) void begin();
      }}
    >
      <Stack gap="md">
        {stage === "planning" && <span role="status">{say.planned(rows.size, names.length)}</span>}
        {stage === "done" && (
          <Notice tone={failed > 0 ? "bad" : "ok"}>
            {failed > 0 ? say.someNotDone(names.length - failed, failed) : say.allDone(names.length)}
          </Notice>
        )}
        <ul style={{ listStyle: "none", padding: 0, margin: 0 }} aria-label={say.topics}>
          {names.map((name) => (
            <li key={name} className="ps-card" style={{ padding: 10, marginBottom: 8, overflowWrap: "anywhere" }}>
              <TopicOutcome name={name} row={rows.get(name)} isReviewed={stage === "review"} />
            </li>
          ))}
        </ul>
        {stage === "review" && planned.length > 0 && (
          <TextInput
            label={say.typeToConfirm(phrase)}
            description={say.eachHasAnOperation}
            value={typed}
            autoComplete="off"
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {stage === "running" ? say.leaveItToTheOperations : say.close}
          </Button>
          {stage !== "done" && (
            <Button
              type="submit"
              color={action === "delete" ? "red" : undefined}
              loading={stage === "running" || stage === "planning"}
              disabled={planned.length === 0 || typed !== phrase}
            >
              {(action === "delete" ? say.deleteThem : say.changeThem)(planned.length)}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

function TopicOutcome({ name, row, isReviewed }: { name: string; row: BulkRow | undefined; isReviewed: boolean }) {
  return (
    <Stack gap={6}>
      <Group gap={8} justify="space-between">
        <span className="ps-mono">{name}</span>
        {row?.operation && (
          <Link to="/operations/$operationId" params={{ operationId: row.operation.id }} className="ps-link">
            <OperationStatus state={row.operation.state} />
          </Link>
        )}
        {!row && <span className="ps-muted">{say.waiting}</span>}
      </Group>
      {row?.problem && <Notice tone="bad">{row.problem}</Notice>}
      {row?.operation?.error && <Notice tone="bad">{errorText(row.operation.error)}</Notice>}
      {row?.plan && isReviewed && (
        <>
          <div>{summaryText(row.plan.impact)}</div>
          <Warnings warnings={row.plan.impact.warnings} />
          <BlastRadius extents={row.plan.impact.blast_radius} />
        </>
      )}
    </Stack>
  );
}
