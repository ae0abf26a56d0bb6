import { ActionIcon, Button, Group, NumberInput, Select, Stack, Switch, Textarea, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { Notice } from "@/components/notice";
import { api } from "@/lib/api-client";
import { ApiError } from "@/lib/problem";
import type { NewMessage } from "@/lib/types";
import { words } from "@/words/messages";

const say = words.produceDialog;

const FORMATS = (["string", "json", "hex"] as const).map((value) => ({ value, label: words.formats[value] }));
type Format = (typeof FORMATS)[number]["value"];
/** As many as the service takes. */
const HEADERS_MAX = 50;

interface Header {
  name: string;
  text: string;
}

interface ProduceDialogProps {
  clusterId: string;
  topic: string;
  partitions: number;
  onClose: () => void;
  onWritten: (where: { partition: number; offset: number }) => void;
}

/** One message, written with acks=all: sent once, and what became of it is said. */
export function ProduceDialog({ clusterId, topic, partitions, onClose, onWritten }: ProduceDialogProps) {
  const [partition, setPartition] = useState<number | string>("");
  const [hasKey, setHasKey] = useState(true);
  const [key, setKey] = useState("");
  const [isTombstone, setTombstone] = useState(false);
  const [value, setValue] = useState("");
  const [format, setFormat] = useState<Format>("json");
  const [headers, setHeaders] = useState<Header[]>([]);
  const write = useMutation({
    mutationFn: (body: NewMessage) =>
      api.post("/api/v1/clusters/{cluster_id}/topics/{name}/messages", {
        blanks: { cluster_id: clusterId, name: topic },
        body,
      }),
    onSuccess: onWritten,
  });
  const isUnknown =
    write.error !== null && (!(write.error instanceof ApiError) || write.error.code === "outcome-unknown");
  const submit = () =>
    write.mutate({
      partition: partition === "" ? null : Number(partition),
      key: hasKey ? { format: "string", text: key } : null,
      value: isTombstone ? null : { format, text: value },
      headers: headers.map(({ name, text }) => ({ name, value: { format: "string", text } })),
    });
  const put = (index: number, part: Partial<Header>) =>
    setHeaders((old) => old.map((header, at) => (at === index ? { ...header, ...part } : header)));
  return (
    <FormModal
      opened
      title={say.writeTo(topic)}
      submit={isUnknown ? say.writeOnceMore : say.writeMessage}
      onClose={onClose}
      onSubmit={submit}
      ready={headers.every(({ name }) => name !== "") && (!isTombstone || hasKey)}
      pending={write.isPending}
      error={write.error}
    >
      <Stack gap="sm">
        {isUnknown && <Notice tone="warn">{say.mayHaveBeenWritten}</Notice>}
        <NumberInput
          label={say.partition}
          description={say.theKeyDecides}
          min={0}
          max={partitions - 1}
          allowDecimal={false}
          value={partition}
          onChange={setPartition}
        />
        <Switch label={say.withAKey} checked={hasKey} onChange={(event) => setHasKey(event.currentTarget.checked)} />
        {hasKey && (
          <TextInput
            label={say.key}
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            spellCheck={false}
          />
        )}
        <Switch
          label={say.tombstone}
          checked={isTombstone}
          onChange={(event) => setTombstone(event.currentTarget.checked)}
        />
        {!isTombstone && (
          <>
            <Select
              label={say.valueAs}
              data={FORMATS}
              value={format}
              allowDeselect={false}
              onChange={(next) => setFormat(FORMATS.find((item) => item.value === next)?.value ?? "string")}
            />
            <Textarea
              label={say.value}
              autosize
              minRows={4}
              maxRows={14}
              value={value}
              onChange={(event) => setValue(event.currentTarget.value)}
              spellCheck={false}
              styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            />
          </>
        )}
        {headers.map((header, index) => (
          <Group key={index} gap={8} align="end" wrap="nowrap">
            <TextInput
              label={say.header(index + 1)}
              value={header.name}
              onChange={(event) => put(index, { name: event.currentTarget.value })}
            />
            <TextInput
              label={say.valueOfHeader(index + 1)}
              value={header.text}
              onChange={(event) => put(index, { text: event.currentTarget.value })}
            />
            <ActionIcon
              aria-label={say.removeHeader(index + 1)}
              onClick={() => setHeaders((old) => old.filter((_, at) => at !== index))}
            >
              <IconX size={15} />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            disabled={headers.length >= HEADERS_MAX}
            onClick={() => setHeaders((old) => [...old, { name: "", text: "" }])}
          >
            {say.addHeader}
          </Button>
        </Group>
      </Stack>
    </FormModal>
  );
}
