import { Button, Group, Modal, Stack } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Lines } from "@/components/card";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { Quantity } from "@/components/quantity";
import { api } from "@/lib/api-client";
import type { Destination, DestinationTest } from "@/lib/types";

/** Sends a test event now and shows how that ended. */
export function TestDestination({ destination, onClose }: { destination: Destination; onClose: () => void }) {
  const client = useQueryClient();
  const test = useMutation({
    mutationFn: (id: string) =>
      api.post("/api/v1/destinations/{destination_id}/test", { blanks: { destination_id: id } }),
    onSettled: () => client.invalidateQueries({ queryKey: ["page", "destinations"] }),
  });
  const { mutate } = test;
  useEffect(() => mutate(destination.id), [mutate, destination.id]);
  return (
    <Modal opened onClose={onClose} title={<strong>Test of {destination.name}</strong>}>
      <Stack gap="md">
        {test.isPending && <Lines rows={2} />}
        {test.isError && <ProblemPanel error={test.error} />}
        {test.data && <Result result={test.data} />}
        <Group justify="flex-end" gap={8}>
          <Button variant="default" loading={test.isPending} onClick={() => mutate(destination.id)}>
            Test again
          </Button>
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Result({ result }: { result: DestinationTest }) {
  const answer = result.status === null ? "no HTTP answer" : `HTTP ${result.status}`;
  return (
    <Notice
      tone={result.delivered ? "ok" : "bad"}
      title={result.delivered ? "The test event was delivered" : "The test event was not delivered"}
    >
      {result.text && <p style={{ margin: "2px 0" }}>{result.text}</p>}
      <span className="ps-mono">{result.code}</span>, {answer}, after <Quantity of="spanMs" value={result.took_ms} />
    </Notice>
  );
}
