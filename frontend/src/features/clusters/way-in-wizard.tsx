import { Button, Group, Stack } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { ReactNode } from "react";
import { Card } from "@/components/card";
import { PlanWizard, type usePlanWizard } from "@/components/plan-wizard";
import type { WizardStep } from "@/components/wizard";
import type { PlanRequest } from "@/lib/types";
import { words } from "@/words/clusters";
import { ProbeSteps, WayInRefused } from "./probe-steps";
import { usesTls, type WayIn, type WayInSecrets } from "./way-in";

const say = words.wayInWizard;

const STEPS: WizardStep[] = [
  [say.wayIn, say.addressTlsLogin],
  [say.plan, say.whatWasFoundThere],
  [say.doneAndVerified, say.liveSteps],
];

interface WayInWizardProps<T> {
  wizard: ReturnType<typeof usePlanWizard>;
  form: UseFormReturnType<T>;
  draft: string;
  request: (values: T) => PlanRequest;
  /** Beside the form. */
  aside: ReactNode;
  cancel: ReactNode;
  done: ReactNode;
  children: ReactNode;
}

/** Say the way in, see how far it leads and what follows, confirm it. */
export function WayInWizard<T extends WayIn & WayInSecrets>(props: WayInWizardProps<T>) {
  const { wizard, form, request } = props;
  const { plan } = wizard;
  const tls = usesTls(form.values.security_protocol);
  const probes = plan.data?.impact.probes ?? [];
  return (
    <PlanWizard
      wizard={wizard}
      steps={STEPS}
      draft={props.draft}
      done={props.done}
      notice={
        wizard.active === 1 &&
        probes.length > 0 && (
          <Card title={say.addressesTried} padded>
            <ProbeSteps probes={probes} tls={tls} />
          </Card>
        )
      }
    >
      <form onSubmit={form.onSubmit((values) => wizard.ask(request(values as T)))}>
        <div className="ps-cols-2-1">
          <Card padded>
            <Stack gap="md">
              {props.children}
              {plan.error && !plan.isPending && <WayInRefused error={plan.error} tls={tls} />}
              <Group justify="flex-end" gap={8}>
                {props.cancel}
                <Button type="submit" loading={plan.isPending}>
                  {say.tryItAndReviewThe}
                </Button>
              </Group>
            </Stack>
          </Card>
          {props.aside}
        </div>
      </form>
    </PlanWizard>
  );
}
