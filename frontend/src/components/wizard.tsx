import { Stepper } from "@mantine/core";
import type { ReactNode } from "react";

export type WizardStep = [label: string, description: string];

interface WizardProps {
  active: number;
  steps: WizardStep[];
  /** Going back is allowed to the steps before; never forward by clicking. */
  onStep?: (step: number) => void;
  children: ReactNode;
}

/** Choose → review the plan → watch it happen. */
export function Wizard({ active, steps, onStep, children }: WizardProps) {
  return (
    <>
      <Stepper active={active} size="xs" mb="md" iconSize={26} onStepClick={onStep} allowNextStepsSelect={false}>
        {steps.map(([label, description]) => (
          <Stepper.Step key={label} label={label} description={<span className="ps-hide-sm">{description}</span>} />
        ))}
      </Stepper>
      {children}
    </>
  );
}
