import { Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { GrantsEditor } from "@/features/settings/grants-editor";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { isGrant } from "@/lib/grant-words";
import { NEW_GRANT } from "@/lib/grants";
import type { ApiKey, Grant, ServiceAccount } from "@/lib/types";
import { words } from "@/words/settings";

const say = words.keyForms;

const DAY_MS = 24 * 3600 * 1000;

interface MakesKey {
  onClose: () => void;
  onMade: (text: string, hint: string) => void;
}

export function NewKeyForm({ account: of, onClose, onMade }: MakesKey & { account: ServiceAccount }) {
  const [name, setName] = useState(of.name);
  const [scope, setScope] = useState<ApiKey["scope"]>("read");
  const [grants, setGrants] = useState<Grant[]>([NEW_GRANT]);
  const [days, setDays] = useState("90");
  const given = scope === "limited" ? grants : [];
  const send = useChange(() =>
    api.post("/api/v1/api-keys", {
      body: {
        name,
        scope,
        grants: given,
        service_account_id: of.id,
        expires_at: days === "" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
      },
    }),
  );
  return (
    <FormModal
      title={say.newKeyOf(of.name)}
      opened
      onClose={onClose}
      submit={say.makeTheKey}
      ready={name !== "" && given.every(isGrant) && (scope !== "limited" || given.length > 0)}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: (made) => onMade(made.key, say.itActsFor(of.name)) })}
    >
      <TextInput
        label={say.name}
        size="sm"
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Select
        label={say.may}
        size="sm"
        allowDeselect={false}
        data={[
          { value: "read", label: say.read },
          { value: "write", label: say.readAndWrite },
          { value: "limited", label: say.byGrantsOnly },
        ]}
        value={scope}
        onChange={(value) => value && setScope(value as ApiKey["scope"])}
      />
      {scope === "limited" && <GrantsEditor grants={grants} onChange={setGrants} />}
      <Select
        label={say.goodFor}
        size="sm"
        allowDeselect={false}
        data={[
          { value: "30", label: say.n30Days },
          { value: "90", label: say.n90Days },
          { value: "365", label: say.aYear },
          { value: "", label: say.untilItIsRevoked },
        ]}
        value={days}
        onChange={(value) => value !== null && setDays(value)}
      />
    </FormModal>
  );
}

export function RotateForm({ apiKey, onClose, onMade }: MakesKey & { apiKey: ApiKey }) {
  const [overlap, setOverlap] = useState("86400");
  const send = useChange(() =>
    api.post("/api/v1/api-keys/{key_id}/rotation", {
      blanks: { key_id: apiKey.id },
      body: { overlap_s: Number(overlap), expires_at: null },
      ifMatch: apiKey.etag,
    }),
  );
  return (
    <FormModal
      title={say.rotate(apiKey.name)}
      opened
      onClose={onClose}
      submit={say.makeTheSuccessor}
      pending={send.isPending}
      error={send.error}
      onSubmit={() =>
        send.mutate(undefined, {
          onSuccess: (made) => onMade(made.key, say.theOldKeyEnds(new Date(made.replaced_ends_at).toLocaleString())),
        })
      }
    >
      <p style={{ margin: 0 }}>{say.aNewKeyWithThe}</p>
      <Select
        label={say.theOldKeyGoesOn}
        size="sm"
        allowDeselect={false}
        data={[
          { value: "0", label: say.noTimeItEndsAt },
          { value: "3600", label: say.anHour },
          { value: "86400", label: say.aDay },
          { value: "604800", label: say.n7Days },
        ]}
        value={overlap}
        onChange={(value) => value && setOverlap(value)}
      />
    </FormModal>
  );
}

export function RevokeKeyForm({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const send = useChange(
    () => api.delete("/api/v1/api-keys/{key_id}", { blanks: { key_id: apiKey.id }, ifMatch: apiKey.etag }),
    () => say.theKeyWasRevoked(apiKey.name),
  );
  return (
    <FormModal
      title={say.revoke(apiKey.name)}
      opened
      onClose={onClose}
      submit={say.revoke2}
      danger
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>{say.programsThatUseItAre}</p>
    </FormModal>
  );
}
