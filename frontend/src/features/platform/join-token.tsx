import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { CodeBlock } from "@/components/copy";
import { FormModal } from "@/components/form-modal";
import { Notice } from "@/components/notice";
import { RelTime } from "@/components/rel-time";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import type { HostTokenCreated } from "@/lib/types";
import { words } from "@/words/platform";

const say = words.joinToken;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Makes a token by which one host joins, and shows the command once. */
export function JoinToken() {
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<HostTokenCreated | null>(null);
  return (
    <>
      <p style={{ margin: "0 0 8px" }}>{say.aTokenLetsOneHost}</p>
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        {say.joinToken}
      </Button>
      {made && (
        <div style={{ marginTop: 12 }}>
          <Notice tone="info" title={say.runThisOn(made.host_id)}>
            {say.shownThisOnce(<RelTime at={made.expires_at} />)}
          </Notice>
          <CodeBlock label={say.joinCommand} text={say.command(made.token, window.location.origin)} />
        </div>
      )}
      {isOpen && <TokenForm onClose={() => setOpen(false)} onMade={setMade} />}
    </>
  );
}

function TokenForm({ onClose, onMade }: { onClose: () => void; onMade: (made: HostTokenCreated) => void }) {
  const [name, setName] = useState("");
  const send = useChange(() =>
    api.post("/api/v1/operator/host-tokens", { body: { host_id: name, note: "", lifetime_s: 3600 } }),
  );
  return (
    <FormModal
      title={say.joinToken}
      opened
      onClose={onClose}
      submit={say.makeTheToken}
      ready={NAME.test(name)}
      pending={send.isPending}
      error={send.error}
      onSubmit={() =>
        send.mutate(undefined, {
          onSuccess: (made) => {
            onMade(made);
            onClose();
          },
        })
      }
    >
      <TextInput
        label={say.nameOfTheHost}
        description={say.lettersDigitsDotsDashes}
        size="sm"
        maxLength={100}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </FormModal>
  );
}
