import { Autocomplete, Button, Checkbox, Group, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconAdjustments } from "@tabler/icons-react";
import { useState } from "react";
import { Dialog } from "@/components/dialog";
import { PlanFlow } from "@/components/plan-flow";
import { kindLabel } from "@/lib/kinds";
import type { PlanRequest } from "@/lib/types";
import { words } from "@/words/brokers";

const say = words.configureBrokers;

interface ConfigureBrokersProps {
  clusterId: string;
  /** Keys that the broker has; the plan has the last word about any. */
  keys: string[];
}

/** Plans another value of a setting for all brokers: at once where the key allows it, else with a restart of each. */
export function ConfigureBrokers({ clusterId, keys }: ConfigureBrokersProps) {
  const [isOpen, setOpen] = useState(false);
  const [request, setRequest] = useState<PlanRequest | null>(null);
  const form = useForm({
    initialValues: { key: "", value: "", unset: false },
    validate: {
      key: (key) => (key.trim() ? null : say.aSettingIsNeeded),
      value: (value, { unset }) => (unset || value.trim() ? null : say.aValueIsNeeded),
    },
  });
  return (
    <>
      <Button variant="default" size="xs" leftSection={<IconAdjustments size={15} />} onClick={() => setOpen(true)}>
        {say.changeASetting}
      </Button>
      <Dialog opened={isOpen} onClose={() => setOpen(false)} title={say.changeASetting}>
        <form
          onSubmit={form.onSubmit(({ key, value, unset }) => {
            setOpen(false);
            const config = { [key.trim()]: unset ? null : value.trim() };
            setRequest({ kind: "cluster.configure", cluster_id: clusterId, inputs: { config } });
          })}
        >
          <Stack gap="md">
            <p className="ps-muted" style={{ margin: 0 }}>
              {say.howItGetsThere}
            </p>
            <Autocomplete label={say.setting} data={keys} limit={20} data-autofocus {...form.getInputProps("key")} />
            <TextInput label={say.value} disabled={form.values.unset} {...form.getInputProps("value")} />
            <Checkbox label={say.withoutASetting} {...form.getInputProps("unset", { type: "checkbox" })} />
            <Group justify="flex-end">
              <Button variant="default" onClick={() => setOpen(false)}>
                {say.cancel}
              </Button>
              <Button type="submit">{say.seeThePlan}</Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
      <PlanFlow request={request} title={kindLabel("cluster.configure")} onClose={() => setRequest(null)} />
    </>
  );
}
