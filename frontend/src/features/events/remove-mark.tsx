import { Button } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { CHART_EVENTS } from "@/lib/chart-events";
import type { TimelineEvent } from "@/lib/types";
import { words } from "@/words/events";

const say = words.removeMark;

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
    () => say.theMarkIsTakenBack,
    [CHART_EVENTS],
  );
  return (
    <>
      <Button
        variant="subtle"
        size="compact-xs"
        aria-label={say.removeTheMark(event.text)}
        onClick={() => setAsked(true)}
      >
        {say.remove}
      </Button>
      <FormModal
        title={say.takeBackThisMark}
        opened={asked}
        onClose={() => setAsked(false)}
        submit={say.takeItBack}
        pending={send.isPending}
        error={send.error}
        onSubmit={() => send.mutate(undefined, { onSuccess: () => setAsked(false) })}
      >
        <p style={{ margin: 0, overflowWrap: "anywhere" }}>{say.goesFromTheTimelineAnd(event.text)}</p>
      </FormModal>
    </>
  );
}
