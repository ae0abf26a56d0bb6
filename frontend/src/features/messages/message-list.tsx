import { ScrollBox } from "@/components/scroll-box";
import { formatBytes, formatExact, toDate } from "@/lib/format";
import type { Message, MessagePart } from "@/lib/types";
import { words } from "@/words/messages";
import { inCell } from "./hostile";

const say = words.messageList;

/** A key or value in a cell: its text on one line, or why there is none. */
export function PartCell({ part }: { part: MessagePart }) {
  if (part.kind === "null") return <span className="ps-muted">{say.nullValue}</span>;
  if (part.text === "" && !part.masked) return <span className="ps-muted">{say.emptyText}</span>;
  return (
    <>
      <bdi className="ps-mono ps-message-text">{inCell(part.text)}</bdi>
      {part.masked && (
        <span className="ps-tag" data-tone="muted" title={say.aMaskHides}>
          {say.masked}
        </span>
      )}
    </>
  );
}

export function at(message: Message): string {
  const date = toDate(message.timestamp);
  if (date) return formatExact(date);
  return message.timestamp_ms === null ? say.noTime : `${String(message.timestamp_ms)} ms`;
}

const size = (message: Message): string =>
  message.value.size_bytes === null ? "–" : formatBytes(message.value.size_bytes);

interface MessageListProps {
  messages: Message[];
  onOpen: (message: Message) => void;
}

export function MessageList({ messages, onOpen }: MessageListProps) {
  return (
    <ScrollBox label={say.messages}>
      <table className="ps-table ps-message-table" aria-label={say.messages}>
        <thead>
          <tr>
            <th scope="col">{say.partition}</th>
            <th scope="col" data-align="right">
              {say.offset}
            </th>
            <th scope="col">{say.time}</th>
            <th scope="col">{say.key}</th>
            <th scope="col">{say.value}</th>
            <th scope="col" data-align="right">
              {say.valueSize}
            </th>
          </tr>
        </thead>
        <tbody>
          {messages.map((message) => (
            <tr key={`${message.partition}-${message.offset}`}>
              <td className="ps-tnum">{message.partition}</td>
              <td data-align="right">
                <button
                  type="button"
                  className="ps-link ps-tnum"
                  aria-label={say.open(message.offset, message.partition)}
                  onClick={() => onOpen(message)}
                >
                  {message.offset}
                </button>
              </td>
              <td className="ps-tnum" style={{ whiteSpace: "nowrap" }}>
                {at(message)}
              </td>
              <td>
                <PartCell part={message.key} />
              </td>
              <td>
                <PartCell part={message.value} />
              </td>
              <td data-align="right" title={say.bytes(message.value.size_bytes)}>
                {size(message)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}
