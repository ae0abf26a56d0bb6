import { Button } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { CHART_EVENTS } from "@/lib/chart-events";
import type { TimelineEvent } from "@/lib/types";

/** Takes back a deployment that was marked by mistake. */
export function RemoveMark({ event }: { event: TimelineEvent }) {
  const [asked, setAsked] = useState(false);
  const send = useChange(
    async () => {
      const blanks = { event_id: event.id };
      // Lists of events name no version.
      const mark = await api.get("/api/v1/deployments/{event_id}", { blanks });
      return api.delete("/api/v1/deployments/{event_id}", { blanks, ifMatch: mark.etag });
    },
    () => "The mark is taken back.",
    [CHART_EVENTS],
  );
  return (
    <>
      <Button
        variant="subtle"
        size="compact-xs"
        aria-label={`Remove the mark ${event.text}`}
        onClick={() => setAsked(true)}
      >
        Remove
      </Button>
      <FormModal
        title="Take back this mark"
        opened={asked}
        onClose={() => setAsked(false)}
        submit="Take it back"
        pending={send.isPending}
        error={send.error}
        onSubmit={() => send.mutate(undefined, { onSuccess: () => setAsked(false) })}
      >
        <p style={{ margin: 0, overflowWrap: "anywhere" }}>
          “{event.text}” goes from the timeline and from the charts. The audit keeps that it was marked.
        </p>
      </FormModal>
    </>
  );
}
