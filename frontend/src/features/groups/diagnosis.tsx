import { AsOf } from "@/components/as-of";
import { Notice } from "@/components/notice";
import { LagStatus } from "@/components/status";
import { LAG_SEVERITY, RISK_SEVERITY, type Severity } from "@/generated/constants";
import type { GroupRow } from "@/lib/types";
import { words } from "@/words/groups";

const say = words.diagnosis;

export type Diagnosis = GroupRow["diagnosis"];

const SEVERITIES: readonly Severity[] = ["ok", "unknown", "recovering", "warning", "danger"];
const TONES: Record<Severity, "ok" | "info" | "warn" | "bad"> = {
  ok: "ok",
  unknown: "info",
  recovering: "info",
  warning: "warn",
  danger: "bad",
};
const harm = (severity: Severity) => SEVERITIES.indexOf(severity);

/** What a group does, or what retention does to it: whichever is the worse. */
export function HarmStatus({ diagnosis }: { diagnosis: Diagnosis }) {
  const { status, risk } = diagnosis;
  const ofRisk = risk !== null && (status === null || harm(RISK_SEVERITY[risk]) > harm(LAG_SEVERITY[status]));
  return <LagStatus status={ofRisk ? risk : (status ?? "UNKNOWN")} />;
}

/** Whether a list should say why, too: not of what does well, or of which nothing is known. */
export const isWorthASentence = ({ severity }: Diagnosis): boolean => harm(severity) > harm("unknown");

/** Why the group is where it is, what to do next, and what is not known. */
export function DiagnosisNotice({ diagnosis }: { diagnosis: Diagnosis }) {
  return (
    <Notice tone={TONES[diagnosis.severity]} title={diagnosis.text}>
      {diagnosis.next_step && <div className="ps-text">{diagnosis.next_step}</div>}
      {diagnosis.unknown.map((text) => (
        <div key={text}>{text}</div>
      ))}
      <small>
        {diagnosis.as_of
          ? say.fromWhatWasMeasured(
              <AsOf at={diagnosis.as_of} staleAfter={diagnosis.is_stale ? diagnosis.as_of : null} />,
            )
          : say.fromTheBrokers}
      </small>
    </Notice>
  );
}
