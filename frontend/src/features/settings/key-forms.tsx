import { Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { GrantsEditor } from "@/features/settings/grants-editor";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { isGrant, NEW_GRANT } from "@/lib/grants";
import type { ApiKey, Grant, ServiceAccount } from "@/lib/types";

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
      title={`New key of ${of.name}`}
      opened
      onClose={onClose}
      submit="Make the key"
      ready={name !== "" && given.every(isGrant) && (scope !== "limited" || given.length > 0)}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: (made) => onMade(made.key, `It acts for ${of.name}.`) })}
    >
      <TextInput
        label="Name"
        size="sm"
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Select
        label="May"
        size="sm"
        allowDeselect={false}
        data={[
          { value: "read", label: "Read" },
          { value: "write", label: "Read and write" },
          { value: "limited", label: "By grants only" },
        ]}
        value={scope}
        onChange={(value) => value && setScope(value as ApiKey["scope"])}
      />
      {scope === "limited" && <GrantsEditor grants={grants} onChange={setGrants} />}
      <Select
        label="Good for"
        size="sm"
        allowDeselect={false}
        data={[
          { value: "30", label: "30 days" },
          { value: "90", label: "90 days" },
          { value: "365", label: "a year" },
          { value: "", label: "until it is revoked" },
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
      title={`Rotate ${apiKey.name}`}
      opened
      onClose={onClose}
      submit="Make the successor"
      pending={send.isPending}
      error={send.error}
      onSubmit={() =>
        send.mutate(undefined, {
          onSuccess: (made) =>
            onMade(made.key, `The old key ends ${new Date(made.replaced_ends_at).toLocaleString()}.`),
        })
      }
    >
      <p style={{ margin: 0 }}>A new key with the same rights is made. The old one goes on for a while, then ends.</p>
      <Select
        label="The old key goes on for"
        size="sm"
        allowDeselect={false}
        data={[
          { value: "0", label: "no time: it ends at once" },
          { value: "3600", label: "an hour" },
          { value: "86400", label: "a day" },
          { value: "604800", label: "7 days" },
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
    () => `The key ${apiKey.name} was revoked.`,
  );
  return (
    <FormModal
      title={`Revoke ${apiKey.name}`}
      opened
      onClose={onClose}
      submit="Revoke"
      danger
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>Programs that use it are refused from the next request on. This cannot be undone.</p>
    </FormModal>
  );
}
