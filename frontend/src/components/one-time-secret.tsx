import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { api } from "@/lib/api-client";
import { words } from "@/words/plans";
import { CodeBlock } from "./copy";
import { Notice } from "./notice";
import { ProblemPanel } from "./problem-panel";

const say = words.oneTimeSecret;

/** Reveals an operation's secret. The server gives it once and forgets it. */
export function OneTimeSecret({ operationId }: { operationId: string }) {
  const reveal = useMutation({
    mutationFn: () => api.post("/api/v1/operations/{operation_id}/secret", { blanks: { operation_id: operationId } }),
  });
  if (reveal.data) {
    const { username, password, mechanism } = reveal.data;
    return (
      <Notice tone="warn" title={say.copyThePasswordNowIt}>
        <div style={{ marginTop: 8 }}>
          <CodeBlock label={say.password} text={password} />
        </div>
        <p style={{ margin: "6px 0 0" }}>
          {say.forUserWhoseClientsLog(
            <span className="ps-mono">{username}</span>,
            <span className="ps-mono">{say.saslMechanism(mechanism.split(",")[0])}</span>,
          )}
        </p>
      </Notice>
    );
  }
  return (
    <>
      <Notice
        tone="info"
        title={say.thePasswordCanBeShown}
        action={
          <Group>
            <Button loading={reveal.isPending} onClick={() => reveal.mutate()}>
              {say.showPassword}
            </Button>
          </Group>
        }
      >
        {say.haveASafePlaceReady}
      </Notice>
      {reveal.isError && <ProblemPanel error={reveal.error} />}
    </>
  );
}
