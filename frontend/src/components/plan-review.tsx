import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { ApiError } from "@/lib/problem";
import { kindLabel } from "@/lib/kinds";
import { useConfirmPlan } from "@/lib/plans";
import { isRisky, risksText } from "@/lib/risks";
import { summaryText, warningText } from "@/lib/sentences";
import { useNow } from "@/lib/use-now";
import type { Operation, Plan, PlanWarning } from "@/lib/types";
import { words } from "@/words/plans";
import { BlastRadius } from "./blast-radius";
import { Notice } from "./notice";
import { PlanDiff } from "./plan-diff";
import { ProblemPanel } from "./problem-panel";
import { Quantity } from "./quantity";
import { TargetSample } from "./target-sample";
import { UndoFacts } from "./undo-facts";

const say = words.planReview;

const TONES = { info: "info", warning: "warn", danger: "bad" } as const;

export function Warnings({ warnings }: { warnings: PlanWarning[] }) {
  if (warnings.length === 0) return null;
  return (
    <Stack gap={6}>
      {warnings.map((warning) => (
        <Notice key={`${warning.code}${warning.text}`} tone={TONES[warning.severity] ?? "warn"}>
          {warningText(warning)}
        </Notice>
      ))}
    </Stack>
  );
}

interface PlanReviewProps {
  plan: Plan;
  onStarted: (operation: Operation) => void;
  onReplan: () => void;
  onCancel?: () => void;
  cancelLabel?: string;
  /** In a dialog: the first field has the focus, not the dialog's close button. */
  takesFocus?: boolean;
}

/** What a plan will do, what it puts at risk, and the confirmation that binds to exactly this plan. */
export function PlanReview({
  plan,
  onStarted,
  onReplan,
  onCancel,
  cancelLabel = say.cancel,
  takesFocus = false,
}: PlanReviewProps) {
  const [phrase, setPhrase] = useState("");
  const [reason, setReason] = useState("");
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (takesFocus) first.current?.focus({ preventScroll: true });
  }, [takesFocus]);
  const confirm = useConfirmPlan();
  const now = useNow();
  const left = (new Date(plan.expires_at).getTime() - now) / 1000;
  const outdated = confirm.error instanceof ApiError && [409, 410].includes(confirm.error.status);
  const expired = left <= 0 || plan.state !== "open" || outdated;
  const phraseOk = !plan.confirm_phrase || phrase === plan.confirm_phrase;
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (!phraseOk || expired || confirm.isPending) return;
    confirm.mutate({ plan, confirm: phrase || undefined, reason }, { onSuccess: onStarted });
  };
  return (
    <form onSubmit={submit} aria-label={say.plan}>
      <Stack gap="md">
        <div>
          <div style={{ fontSize: "0.9375rem", fontWeight: 560 }}>{summaryText(plan.impact)}</div>
          <div className="ps-muted ps-tnum" style={{ fontSize: "0.75rem" }}>
            {left > 0
              ? say.planIsValid(plan.id, <Quantity of="span" value={Math.floor(left)} />)
              : say.planHasExpired(plan.id)}
          </div>
        </div>
        <Warnings warnings={plan.impact.warnings} />
        <BlastRadius extents={plan.impact.blast_radius} />
        <PlanDiff plan={plan} />
        {plan.kind === "offset.reset" && <TargetSample plan={plan} />}
        <UndoFacts undo={plan.impact.undo} />
        {plan.confirm_phrase && (
          <TextInput
            ref={first}
            data-autofocus={takesFocus || undefined}
            label={<>{say.typeToConfirm(<span className="ps-mono">{plan.confirm_phrase}</span>)}</>}
            description={isRisky(plan) ? say.because(risksText(plan)) : undefined}
            value={phrase}
            onChange={(event) => setPhrase(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-testid="confirm-phrase"
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          />
        )}
        <TextInput
          ref={plan.confirm_phrase ? undefined : first}
          data-autofocus={(takesFocus && !plan.confirm_phrase) || undefined}
          label={say.reasonKeptInTheAudit}
          placeholder={say.optional}
          value={reason}
          maxLength={500}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        {confirm.isError && <ProblemPanel error={confirm.error} />}
        <Group justify="flex-end" gap={8}>
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              {cancelLabel}
            </Button>
          )}
          {expired ? (
            <Button onClick={onReplan}>{say.makeANewPlan}</Button>
          ) : (
            <Button
              type="submit"
              color={isRisky(plan) ? "red.8" : undefined}
              disabled={!phraseOk}
              loading={confirm.isPending}
              data-testid="confirm-plan"
            >
              {kindLabel(plan.kind)}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}
