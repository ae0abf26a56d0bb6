import { Button } from "@mantine/core";
import type { PlanRequest } from "@/lib/types";
import { words } from "@/words/late-parts";

const say = words.mend;

interface Way {
  kind: string;
  inputs: Record<string, unknown>;
}

interface MendProps {
  clusterId: string;
  /** What differs, for those who hear the buttons. */
  name: string;
  back: Way | null;
  backProblem: string;
  adopt: Way | null;
  adoptProblem: string;
  onPlan: (request: PlanRequest) => void;
}

/** Both ways out of a difference, each a plan; where there is none, why. */
export function Mend({ clusterId, name, back, backProblem, adopt, adoptProblem, onPlan }: MendProps) {
  const problems = [back ? "" : backProblem, adopt ? "" : adoptProblem].filter(Boolean);
  return (
    <span style={{ display: "inline-flex", flexWrap: "wrap", gap: 6, alignItems: "center" }}>
      {back && (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={say.putBackNamed(name)}
          onClick={() => onPlan(requestOf(clusterId, back))}
        >
          {say.putBack}
        </Button>
      )}
      {adopt && (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={say.takeOverNamed(name)}
          onClick={() => onPlan(requestOf(clusterId, adopt))}
        >
          {say.takeOver}
        </Button>
      )}
      {problems.map((text) => (
        <span key={text} className="ps-muted">
          {text}
        </span>
      ))}
    </span>
  );
}

/** The service has written both parts for `POST /plans`; only the document does not pair kinds and inputs here. */
function requestOf(clusterId: string, way: Way): PlanRequest {
  return { kind: way.kind, cluster_id: clusterId, inputs: way.inputs } as PlanRequest;
}
