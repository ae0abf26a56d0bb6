import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { api } from "@/lib/api-client";
import { CodeBlock } from "./copy";
import { Notice } from "./notice";
import { ProblemPanel } from "./problem-panel";

/** Reveals an operation's secret. The server gives it once and forgets it. */
export function OneTimeSecret({ operationId }: { operationId: string }) {
  const reveal = useMutation({
    mutationFn: () => api.post("/api/v1/operations/{operation_id}/secret", { blanks: { operation_id: operationId } }),
  });
  if (reveal.data) {
    const { username, password, mechanism } = reveal.data;
    return (
      <Notice tone="warn" title="Copy the password now. It is not stored and cannot be shown again.">
        <div style={{ marginTop: 8 }}>
          <CodeBlock label="Password" text={password} />
        </div>
        <p style={{ margin: "6px 0 0" }}>
          For user <span className="ps-mono">{username}</span>, whose clients log in with{" "}
          <span className="ps-mono">sasl.mechanism={mechanism.split(",")[0]}</span>.
        </p>
      </Notice>
    );
  }
  return (
    <>
      <Notice
        tone="info"
        title="The password can be shown once"
        action={
          <Group>
            <Button loading={reveal.isPending} onClick={() => reveal.mutate()}>
              Show password
            </Button>
          </Group>
        }
      >
        Have a safe place ready before you reveal it.
      </Notice>
      {reveal.isError && <ProblemPanel error={reveal.error} />}
    </>
  );
}
