import { Button, Group, Modal, Stack } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Doors } from "@/lib/destinations";
import type { Destination, DestinationTest } from "@/lib/types";
import { words } from "@/words/destinations";
import { Lines } from "./card";
import { Notice } from "./notice";
import { ProblemPanel } from "./problem-panel";
import { Quantity } from "./quantity";

const say = words.testDestination;

interface TestDestinationProps {
  destination: Destination;
  doors: Doors;
  onClose: () => void;
}

/** Sends a test event now and shows how that ended. */
export function TestDestination({ destination, doors, onClose }: TestDestinationProps) {
  const client = useQueryClient();
  const test = useMutation({
    mutationFn: (id: string) => doors.test(id),
    onSettled: () => client.invalidateQueries({ queryKey: ["page", "destinations"] }),
  });
  const { mutate } = test;
  useEffect(() => mutate(destination.id), [mutate, destination.id]);
  return (
    <Modal opened onClose={onClose} title={<strong>{say.testOf(destination.name)}</strong>}>
      <Stack gap="md">
        {test.isPending && <Lines rows={2} />}
        {test.isError && <ProblemPanel error={test.error} />}
        {test.data && <Result result={test.data} />}
        <Group justify="flex-end" gap={8}>
          <Button variant="default" loading={test.isPending} onClick={() => mutate(destination.id)}>
            {say.testAgain}
          </Button>
          <Button onClick={onClose}>{say.close}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Result({ result }: { result: DestinationTest }) {
  const answer = result.status === null ? say.noHttpAnswer : say.http(result.status);
  return (
    <Notice
      tone={result.delivered ? "ok" : "bad"}
      title={result.delivered ? say.theTestEventWasDelivered : say.theTestEventWasNot}
    >
      {result.text && <p style={{ margin: "2px 0" }}>{result.text}</p>}
      {say.after(
        <span className="ps-mono">{result.code}</span>,
        answer,
        <Quantity of="spanMs" value={result.took_ms} />,
      )}
    </Notice>
  );
}
