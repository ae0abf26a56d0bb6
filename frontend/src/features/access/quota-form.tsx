import { Autocomplete, Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { Notice } from "@/components/notice";
import type { ClientQuota, KafkaUser } from "@/lib/types";
import {
  EMPTY_TEXTS,
  entityOf,
  isQuota,
  QUOTA_KEYS,
  type QuotaInputs,
  QUOTAS,
  quotaChanges,
  textsOf,
} from "@/lib/quotas";

interface QuotaFormProps {
  opened: boolean;
  /** What is set already, of whom; without it the form asks. */
  row?: ClientQuota;
  quotas: ClientQuota[];
  users: KafkaUser[];
  onClose: () => void;
  onPlan: (inputs: QuotaInputs) => void;
}

type Whom = "user" | "client" | "both" | "every-user" | "every-client";
const WHOM: { value: Whom; label: string }[] = [
  { value: "user", label: "One user" },
  { value: "client", label: "One client id" },
  { value: "both", label: "One client id of one user" },
  { value: "every-user", label: "Every user without one of its own" },
  { value: "every-client", label: "Every client id without one of its own" },
];

/** Bounds of a user or client id; what is set already of the same stands in the fields. */
export function QuotaForm({ opened, row, quotas, users, onClose, onPlan }: QuotaFormProps) {
  const [whom, setWhom] = useState<Whom>("user");
  const [user, setUser] = useState("");
  const [client, setClient] = useState("");
  const entity = row ? entityOf(row) : entityAsked(whom, user.trim(), client.trim());
  const known = row ?? quotas.find((one) => entity && sameEntity(entityOf(one), entity));
  const before = known ? textsOf(known.quotas) : EMPTY_TEXTS;
  const [typed, setTyped] = useState<Partial<typeof EMPTY_TEXTS>>({});
  const texts = { ...before, ...typed };
  const changes = quotaChanges(texts, before);
  const ready = entity !== null && changes !== null && QUOTA_KEYS.every((key) => isQuota(texts[key]));
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (ready) onPlan({ ...entity, quotas: changes });
  };
  return (
    <Modal opened={opened} onClose={onClose} title={<strong>{row ? `Quotas of ${row.words}` : "Set quotas"}</strong>}>
      <form onSubmit={submit}>
        <Stack gap="md">
          {!row && (
            <>
              <Select
                label="Of"
                size="sm"
                allowDeselect={false}
                data={WHOM}
                value={whom}
                onChange={(next) => next && setWhom(next)}
              />
              {(whom === "user" || whom === "both") && (
                <Autocomplete
                  label="User"
                  size="sm"
                  data={users.filter((one) => !one.managed).map((one) => one.username)}
                  value={user}
                  onChange={setUser}
                />
              )}
              {(whom === "client" || whom === "both") && (
                <TextInput
                  label="Client id"
                  size="sm"
                  spellCheck={false}
                  value={client}
                  onChange={(event) => setClient(event.currentTarget.value)}
                />
              )}
            </>
          )}
          {QUOTA_KEYS.map((key) => (
            <TextInput
              key={key}
              label={`${QUOTAS[key].title} (${QUOTAS[key].unit}, per broker)`}
              placeholder="no quota"
              size="sm"
              inputMode="decimal"
              value={texts[key]}
              error={isQuota(texts[key]) ? undefined : "A number above 0, or nothing"}
              onChange={(event) => setTyped({ ...typed, [key]: event.currentTarget.value })}
            />
          ))}
          <Notice tone="info">
            Each broker bounds what reaches it, so on all brokers together it is as many times that. An empty field
            takes the quota away.
          </Notice>
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!ready}>
              Review plan
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

type Entity = Pick<QuotaInputs, "user" | "client_id">;

function entityAsked(whom: Whom, user: string, client: string): Entity | null {
  if (whom === "every-user") return { user: null };
  if (whom === "every-client") return { client_id: null };
  const asksUser = whom !== "client";
  const asksClient = whom !== "user";
  if ((asksUser && !user) || (asksClient && !client)) return null;
  return { ...(asksUser ? { user } : {}), ...(asksClient ? { client_id: client } : {}) };
}

const sameEntity = (one: Entity, other: Entity): boolean =>
  one.user === other.user && one.client_id === other.client_id;
