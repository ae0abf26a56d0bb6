import { Button, Group } from "@mantine/core";
import { IconFlagCheck } from "@tabler/icons-react";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { Card, Lines } from "@/components/card";
import { ListView } from "@/components/list-view";
import { Notice } from "@/components/notice";
import { actorName } from "@/components/operation-list";
import { PageHeader } from "@/components/page-header";
import { ProblemPanel } from "@/components/problem-panel";
import { Refused } from "@/components/refused";
import { RelTime } from "@/components/rel-time";
import { Status } from "@/components/status";
import { isRefusal } from "@/lib/problem";
import { useRun, useRunbook, useRuns } from "@/lib/runbooks";
import { useSession } from "@/lib/session";
import type { Runbook, RunbookRunDetail } from "@/lib/types";
import { alertTitles, runbookTitle } from "@/lib/rule-names";
import { words } from "@/words/runbooks";
import { Document } from "./document";
import { EndRun } from "./end-run";
import { RunState } from "./outcome";
import { Entries } from "./entries";
import { aboutText, RunTable, useClusterNames } from "./run-table";
import { StartRun } from "./start-run";
import { Verified } from "./verified";

const say = words.runbookPage;

const route = getRouteApi("/app/runbooks/$runbookId");

const SEVERITIES: Record<Runbook["severity"], ["bad" | "warn" | "muted", string]> = {
  page: ["bad", say.pageSomebody],
  ticket: ["warn", say.makeATicket],
  none: ["muted", say.forPlannedWork],
};

export function RunbookPage() {
  const { runbookId } = route.useParams();
  const search = route.useSearch();
  const query = useRunbook(runbookId);
  const run = useRun(search.run);
  const runbook = query.data;
  // A run of another runbook is not followed by this one.
  const followed = run.data?.runbook === runbookId ? run.data : undefined;
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader
        title={runbookTitle(runbookId)}
        mark={runbook && <Status tone={SEVERITIES[runbook.severity][0]} label={SEVERITIES[runbook.severity][1]} />}
        sub={runbook && <Facts runbook={runbook} />}
      />
      <div className="ps-stack">
        {search.run === undefined ? (
          runbook && <Begin runbook={runbook} />
        ) : (
          <RunHead id={search.run} query={run} followed={followed} />
        )}
        {runbook ? (
          <Document runbook={runbook} run={followed} />
        ) : query.isError ? (
          <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Card>
            <Lines rows={8} />
          </Card>
        )}
        {followed && runbook && <Entries run={followed} runbook={runbook} />}
        {search.run === undefined && <Before runbookId={runbookId} />}
      </div>
    </>
  );
}

function Facts({ runbook }: { runbook: Runbook }) {
  return (
    <>
      {say.aboutMinOwnerVerified(runbook.est_minutes, runbook.owner, <Verified runbook={runbook} />)}
      {runbook.alerts.length > 0 && (
        <>
          {" · "}
          <span title={runbook.alerts.join(", ")}>{alertTitles(runbook.alerts)}</span>
        </>
      )}
    </>
  );
}

function Begin({ runbook }: { runbook: Runbook }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: session } = useSession();
  if (session?.can_write !== true) return <Notice tone="info">{say.followingARunbookNeedsA}</Notice>;
  return (
    <StartRun
      runbook={runbook}
      alertId={search.alert}
      given={search}
      onStarted={(run) => void navigate({ search: { run: run.id, alert: search.alert } })}
    />
  );
}

interface RunHeadProps {
  id: string;
  query: ReturnType<typeof useRun>;
  followed: RunbookRunDetail | undefined;
}

/** The run that is followed: about what, since when, by whom, and how it ended. */
function RunHead({ id, query, followed }: RunHeadProps) {
  const clusters = useClusterNames();
  const { data: session } = useSession();
  const [ending, setEnding] = useState(false);
  if (query.isPending) return <Lines rows={1} />;
  if (!followed)
    return query.isError ? (
      <ProblemPanel error={query.error} onRetry={isRefusal(query) ? undefined : () => void query.refetch()} />
    ) : (
      <Notice tone="warn">{say.theRunFollowsAnotherRunbook(id)}</Notice>
    );
  const alertId = followed.context.alert;
  return (
    <Card
      title={
        <>
          <span style={{ marginRight: 10 }}>{say.runAbout(aboutText(followed, clusters))}</span>
          <RunState state={followed.state} />
        </>
      }
      aside={
        followed.state === "open" &&
        session?.can_write && (
          <Button leftSection={<IconFlagCheck size={15} />} onClick={() => setEnding(true)}>
            {say.endTheRun}
          </Button>
        )
      }
      padded
    >
      {query.isError && <Notice tone="warn">{say.shownAsItWasIt}</Notice>}
      <Group gap="md" style={{ fontSize: "0.8125rem" }}>
        <span>{say.begunBy(<RelTime at={followed.created_at} />, actorName(followed.created_by))}</span>
        {typeof alertId === "string" && (
          <Link to="/alerts/$alertId" params={{ alertId }} className="ps-link">
            {say.theAlertAcknowledgeOrSilence}
          </Link>
        )}
        {followed.ended_at && (
          <span>
            {say.ended(<RelTime at={followed.ended_at} />)}
            {followed.ended_by && <> {say.by(actorName(followed.ended_by))}</>}
          </span>
        )}
        {followed.note && <span>“{followed.note}”</span>}
      </Group>
      {ending && <EndRun run={followed} onClose={() => setEnding(false)} />}
    </Card>
  );
}

function Before({ runbookId }: { runbookId: string }) {
  const runs = useRuns({ runbook: runbookId });
  return (
    <Card title={say.runsOfThisRunbook}>
      <ListView query={runs}>{(rows) => <RunTable runs={rows} ofRunbook />}</ListView>
    </Card>
  );
}
