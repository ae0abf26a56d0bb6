import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { Notice } from "@/components/notice";
import { UserBox } from "@/components/user-box";
import { useQuotaOf } from "@/lib/quota-search";
import type { ClientQuota } from "@/lib/types";
import {
  EMPTY_TEXTS,
  entityOf,
  isQuota,
  QUOTA_KEYS,
  type QuotaInputs,
  quotaWords,
  quotaChanges,
  textsOf,
} from "@/lib/quotas";
import { words } from "@/words/access";

const say = words.quotaForm;

interface QuotaFormProps {
  opened: boolean;
  /** What is set already, of whom; without it the form asks. */
  row?: ClientQuota;
  clusterId: string;
  onClose: () => void;
  onPlan: (inputs: QuotaInputs) => void;
}

type Whom = "user" | "client" | "both" | "every-user" | "every-client";
const WHOM: { value: Whom; label: string }[] = [
  { value: "user", label: say.oneUser },
  { value: "client", label: say.oneClientId },
  { value: "both", label: say.oneClientIdOfOneUser },
  { value: "every-user", label: say.everyUserWithout },
  { value: "every-client", label: say.everyClientIdWithout },
];

/** Bounds of a user or client id; what is set already of the same stands in the fields. */
export function QuotaForm({ opened, row, clusterId, onClose, onPlan }: QuotaFormProps) {
  const [whom, setWhom] = useState<Whom>("user");
  const [user, setUser] = useState("");
  const [client, setClient] = useState("");
  const entity = row ? entityOf(row) : entityAsked(whom, user.trim(), client.trim());
  const found = useQuotaOf(clusterId, opened && !row ? entity : null);
  const known = row ?? found;
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
    <Modal opened={opened} onClose={onClose} title={<strong>{row ? say.quotasOf(row.words) : say.setQuotas}</strong>}>
      <form onSubmit={submit}>
        <Stack gap="md">
          {!row && (
            <>
              <Select
                label={say.of}
                size="sm"
                allowDeselect={false}
                data={WHOM}
                value={whom}
                onChange={(next) => next && setWhom(next)}
              />
              {(whom === "user" || whom === "both") && (
                <UserBox label={say.user} size="sm" clusterId={clusterId} value={user} onChange={setUser} />
              )}
              {(whom === "client" || whom === "both") && (
                <TextInput
                  label={say.clientId}
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
              label={say.quotaPerBroker(quotaWords[key].title, quotaWords[key].unit)}
              placeholder={say.noQuota}
              size="sm"
              inputMode="decimal"
              value={texts[key]}
              error={isQuota(texts[key]) ? undefined : say.aNumberOrNothing}
              onChange={(event) => setTyped({ ...typed, [key]: event.currentTarget.value })}
            />
          ))}
          <Notice tone="info">{say.eachBrokerBounds}</Notice>
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              {say.cancel}
            </Button>
            <Button type="submit" disabled={!ready}>
              {say.reviewPlan}
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
