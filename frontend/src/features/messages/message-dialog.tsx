import { Button, Group, Modal, Select, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Copy } from "@/components/copy";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { api } from "@/lib/api-client";
import { formatBytes } from "@/lib/format";
import type { MESSAGE_FORMATS } from "@/lib/search";
import { useSession } from "@/lib/session";
import type { Message, MessagePart } from "@/lib/types";
import { words } from "@/words/messages";
import { indented, onLines, onOneLine } from "./hostile";
import { at } from "./message-list";
import { formatChoices } from "./search-form";

const say = words.messageDialog;

type MessageFormat = (typeof MESSAGE_FORMATS)[number];

/** Characters that are laid out at once; a browser takes seconds for millions on one line. */
const DRAWN_MAX = 200_000;

interface MessageDialogProps {
  clusterId: string;
  topic: string;
  message: Message;
  onClose: () => void;
}

/** One message with all it has, in the format that is chosen, whole when it is asked for. */
export function MessageDialog({ clusterId, topic, message, onClose }: MessageDialogProps) {
  const [keyFormat, setKeyFormat] = useState<MessageFormat>();
  const [valueFormat, setValueFormat] = useState<MessageFormat>();
  const [whole, setWhole] = useState(false);
  const again = useQuery({
    queryKey: ["message", clusterId, topic, message.partition, message.offset, keyFormat, valueFormat],
    enabled: whole || keyFormat !== undefined || valueFormat !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/topics/{name}/messages", {
        blanks: { cluster_id: clusterId, name: topic },
        query: {
          from: "offset",
          offset: message.offset,
          partitions: String(message.partition),
          limit: 1,
          whole: true,
          key_format: keyFormat,
          value_format: valueFormat,
        },
        signal,
      }),
  });
  // Whoever holds grants over topics alone sees no settings of the cluster.
  const { data: session } = useSession();
  const seesCluster = session !== undefined && session.tenant !== null && session.tenant.role !== "limited";
  const found = again.data?.data[0];
  // Deleted since: what comes first after it is another message.
  const isGone = again.isSuccess && found?.offset !== message.offset;
  const shown = found && !isGone ? found : message;
  return (
    <Modal opened onClose={onClose} size="xl" title={say.place(message.partition, message.offset)}>
      <Stack gap="md">
        <div className="ps-muted">
          {at(shown)} · {shown.timestamp_type === "append" ? say.brokersClock : say.producersClock}
        </div>
        {again.isError && <ProblemPanel error={again.error} onRetry={() => void again.refetch()} />}
        {isGone && (
          <Notice tone="warn" title={say.notInTopicAnyMore}>
            {say.shownAsItWasRead}
          </Notice>
        )}
        {(keyFormat === "schema" || valueFormat === "schema" || wantsSchema(shown.key) || wantsSchema(shown.value)) &&
          seesCluster && (
            <Notice tone="info">
              {say.readByRegistry(
                <Link to="/clusters/$clusterId/schema-registry" params={{ clusterId }} className="ps-link">
                  {say.schemaRegistry}
                </Link>,
              )}
            </Notice>
          )}
        <Part name="key" part={shown.key} format={keyFormat} onFormat={setKeyFormat} busy={again.isFetching} />
        <Part name="value" part={shown.value} format={valueFormat} onFormat={setValueFormat} busy={again.isFetching} />
        {isCut(shown) && !whole && (
          <Group>
            <Button variant="default" loading={again.isFetching} onClick={() => setWhole(true)}>
              {say.loadWhole}
            </Button>
          </Group>
        )}
        <Headers message={shown} />
      </Stack>
    </Modal>
  );
}

/** Whether reading it alone would show more of it. */
const isCut = ({ key, value, headers, headers_left_out: leftOut }: Message): boolean =>
  key.truncated ||
  value.truncated ||
  headers.some((header) => header.truncated) ||
  (leftOut > 0 && headers.length < 100);

/** Written in the registry's wire format, a zero and the schema's id, and not read by a schema. */
const wantsSchema = (part: MessagePart): boolean =>
  part.schema === "" && part.kind === "hex" && part.text.startsWith("00") && part.text.length > 10;

interface PartProps {
  name: "key" | "value";
  part: MessagePart;
  format: MessageFormat | undefined;
  onFormat: (format: MessageFormat) => void;
  busy: boolean;
}

/** A kind without words does not pass the type check. */
const KINDS: Record<MessagePart["kind"], string> = words.kinds;

function Part({ name, part, format, onFormat, busy }: PartProps) {
  const own = say[name];
  const text =
    part.kind === "json" && !part.truncated && part.text.length <= DRAWN_MAX ? indented(part.text) : part.text;
  return (
    <section aria-label={own.label}>
      <Group justify="space-between" align="end" mb={6}>
        <div>
          <strong>{own.label}</strong>{" "}
          <span className="ps-muted">
            {part.schema || KINDS[part.kind]}
            {part.size_bytes !== null && (
              <span title={say.bytes(part.size_bytes)}> · {formatBytes(part.size_bytes)}</span>
            )}
            {part.masked && ` · ${say.masked}`}
          </span>
        </div>
        <Group gap={6}>
          {part.text !== "" && <Copy value={part.text} label={own.copy} />}
          <Select
            aria-label={own.showAs}
            size="xs"
            w={160}
            data={formatChoices}
            value={format ?? "auto"}
            disabled={busy}
            allowDeselect={false}
            onChange={(next) => {
              const chosen = formatChoices.find((item) => item.value === next);
              if (chosen) onFormat(chosen.value);
            }}
          />
        </Group>
      </Group>
      {part.problem && <p className="ps-warn">{onOneLine(part.problem)}</p>}
      {part.kind === "null" ? (
        <p className="ps-muted">{own.none}</p>
      ) : (
        // The block scrolls, so the keyboard must be able to reach it.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- WCAG 2.1.1: scrollable region
        <pre className="ps-code ps-message-whole" tabIndex={0} aria-label={own.ofMessage}>
          <bdi>{onLines(text.slice(0, DRAWN_MAX))}</bdi>
        </pre>
      )}
      {part.truncated && <p className="ps-muted">{say.cutAfter(part.text.length)}</p>}
      {text.length > DRAWN_MAX && <p className="ps-muted">{say.drawn(DRAWN_MAX, text.length)}</p>}
    </section>
  );
}

function Headers({ message }: { message: Message }) {
  if (message.headers.length === 0 && message.headers_left_out === 0)
    return <p className="ps-muted">{say.noHeaders}</p>;
  return (
    <section aria-label={say.headers}>
      <table className="ps-table" aria-label={say.headers}>
        <thead>
          <tr>
            <th scope="col">{say.header}</th>
            <th scope="col">{say.headerValue}</th>
          </tr>
        </thead>
        <tbody>
          {message.headers.map((header, index) => (
            <tr key={index}>
              <td>
                <bdi className="ps-mono">{onOneLine(header.name)}</bdi>
              </td>
              <td>
                {header.kind === "null" ? (
                  <span className="ps-muted">{say.nullValue}</span>
                ) : (
                  <bdi className="ps-mono">{onOneLine(header.text)}</bdi>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {message.headers_left_out > 0 && <p className="ps-muted">{say.headersLeftOut(message.headers_left_out)}</p>}
    </section>
  );
}
