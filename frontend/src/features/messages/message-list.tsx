import { ScrollBox } from "@/components/scroll-box";
import { formatBytes, formatExact, formatInteger, toDate } from "@/lib/format";
import type { Message, MessagePart } from "@/lib/types";
import { inCell } from "./hostile";

/** A key or value in a cell: its text on one line, or why there is none. */
export function PartCell({ part }: { part: MessagePart }) {
  if (part.kind === "null") return <span className="ps-muted">null</span>;
  if (part.text === "" && !part.masked) return <span className="ps-muted">empty</span>;
  return (
    <>
      <bdi className="ps-mono ps-message-text">{inCell(part.text)}</bdi>
      {part.masked && (
        <span className="ps-tag" data-tone="muted" title="A mask hides something here">
          masked
        </span>
      )}
    </>
  );
}

export function at(message: Message): string {
  const date = toDate(message.timestamp);
  if (date) return formatExact(date);
  return message.timestamp_ms === null ? "none" : `${String(message.timestamp_ms)} ms`;
}

const size = (message: Message): string =>
  message.value.size_bytes === null ? "–" : formatBytes(message.value.size_bytes);

interface MessageListProps {
  messages: Message[];
  onOpen: (message: Message) => void;
}

export function MessageList({ messages, onOpen }: MessageListProps) {
  return (
    <ScrollBox label="Messages">
      <table className="ps-table ps-message-table" aria-label="Messages">
        <thead>
          <tr>
            <th scope="col">Partition</th>
            <th scope="col" data-align="right">
              Offset
            </th>
            <th scope="col">Time</th>
            <th scope="col">Key</th>
            <th scope="col">Value</th>
            <th scope="col" data-align="right">
              Value size
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
                  aria-label={`Open the message at offset ${message.offset} of partition ${message.partition}`}
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
              <td data-align="right" title={`${formatInteger(message.value.size_bytes)} bytes`}>
                {size(message)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}
