import { Fragment } from "react";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { Status } from "@/components/status";
import { toProblem } from "@/lib/problem";
import type { Probe } from "@/lib/types";
import { words } from "@/words/clusters";

const say = words.probeSteps;

/** In the order in which the service takes them. */
const STEPS: Record<Probe["step"], string> = {
  dns: say.name,
  connect: say.connection,
  tls: say.tls,
  kafka: say.kafkaAnswers,
  login: say.login,
};
const ORDER = Object.keys(STEPS) as Probe["step"][];

/** How far each address let the service in: what was passed, where it ended and why. */
export function ProbeSteps({ probes, tls }: { probes: Probe[]; tls: boolean }) {
  const shown = ORDER.filter((step) => tls || step !== "tls");
  return (
    <table className="ps-table" aria-label={say.addressesTried}>
      <thead>
        <tr>
          <th scope="col">{say.address}</th>
          {shown.map((step) => (
            <th scope="col" key={step}>
              {STEPS[step]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {probes.map((probe) => (
          <Fragment key={probe.address}>
            <tr>
              <td className="ps-mono">{probe.address}</td>
              {shown.map((step) => (
                <td key={step}>
                  <StepState probe={probe} step={step} />
                </td>
              ))}
            </tr>
            {probe.code && (
              <tr>
                <td colSpan={shown.length + 1}>
                  {probe.text} <span className="ps-muted ps-mono">{probe.code}</span>
                </td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

function StepState({ probe, step }: { probe: Probe; step: Probe["step"] }) {
  const at = ORDER.indexOf(probe.step) - ORDER.indexOf(step);
  if (at === 0 && probe.code) return <Status tone="bad" label={say.failed} />;
  if (at < 0) return <span className="ps-muted">{probe.code ? say.notReached : say.notNeeded}</span>;
  return <Status tone="ok" label={say.passed} />;
}

/** Why there is no plan: by address and step where the service looked, else as any problem. */
export function WayInRefused({ error, tls }: { error: unknown; tls: boolean }) {
  const { probes, detail } = toProblem(error);
  if (!probes || probes.length === 0) return <ProblemPanel error={error} />;
  return (
    <Notice tone="bad" title={say.thisWayInDoesNot}>
      <p style={{ margin: "2px 0 8px" }}>{detail}</p>
      <ProbeSteps probes={probes} tls={tls} />
    </Notice>
  );
}
