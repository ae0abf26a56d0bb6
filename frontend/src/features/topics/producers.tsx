import { Link } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import { Card, PartView } from "@/components/card";
import { CodeBlock } from "@/components/copy";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { ScrollBox } from "@/components/scroll-box";
import { formatInteger } from "@/lib/format";
import { usePage } from "@/lib/page";
import type { Producer, TopicProducers } from "@/lib/types";
import { words } from "@/words/topics";
import { abortCommands, advised } from "./hanging";
import { Standing } from "./standing";

const say = words.producers;

/** Every leader is asked each time: less often than what is only read from tables. */
const PACE_MS = 30_000;

/** Who writes to the topic, as the leaders of its partitions remember, and what became of their transactions. */
export function ProducersCard({ clusterId, topic }: { clusterId: string; topic: string }) {
  const query = usePage("producers/{cluster_id}/{topic}", { cluster_id: clusterId, topic }, PACE_MS);
  return (
    <Card title={say.producers}>
      <PartView query={query} name="producers" rows={4}>
        {(found) => <Found found={found} clusterId={clusterId} topic={topic} />}
      </PartView>
      <div className="ps-card-body ps-muted" style={{ fontSize: "0.75rem" }}>
        {say.whatBrokersRemember}
      </div>
    </Card>
  );
}

function Found({ found, clusterId, topic }: { found: TopicProducers; clusterId: string; topic: string }) {
  const { producers, producer_count: count } = found;
  const trouble = advised(producers);
  const nobody = producers.length === 0;
  return (
    <>
      {!found.complete && (
        <div className="ps-card-body">
          <Notice tone="warn" title={say.notEverythingAsked}>
            {(nobody ? say.answeredWithoutProducer : say.answered)(
              found.gaps.join("; "),
              found.partitions_known,
              found.partition_count,
            )}
          </Notice>
        </div>
      )}
      {trouble.length > 0 && <Advice producers={trouble} clusterId={clusterId} topic={topic} />}
      {nobody && found.complete && <Empty title={say.noneRemembered}>{say.whyNone}</Empty>}
      {!nobody && <Table producers={producers} />}
      {count > producers.length && (
        <div className="ps-card-body">
          <Notice tone="info">{say.firstOf(producers.length, count)}</Notice>
        </div>
      )}
    </>
  );
}

function Table({ producers }: { producers: Producer[] }) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const turn = (id: number) =>
    setOpened((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  return (
    <ScrollBox label={say.producers}>
      <table className="ps-table" aria-label={say.producers}>
        <thead>
          <tr>
            <th scope="col">{say.producerId}</th>
            <th scope="col" data-align="right" className="ps-hide-sm">
              {say.epoch}
            </th>
            <th scope="col">{say.lastRecord}</th>
            <th scope="col">{say.transaction}</th>
            <th scope="col">{say.partitions}</th>
          </tr>
        </thead>
        <tbody>
          {producers.map((row) => (
            <Fragment key={row.producer_id}>
              <tr>
                <td>
                  <span className="ps-mono">{row.producer_id}</span>
                  {row.transaction?.transactional_id && (
                    <div className="ps-muted ps-mono" style={{ overflowWrap: "anywhere" }}>
                      {row.transaction.transactional_id}
                    </div>
                  )}
                </td>
                <td data-align="right" className="ps-hide-sm">
                  {formatInteger(row.epoch)}
                </td>
                <td>
                  <RelTime at={row.last_timestamp_ms} fallback={say.notKnown} />
                </td>
                <td>
                  <Open producer={row} />
                </td>
                <td>
                  <button
                    type="button"
                    className="ps-link"
                    aria-expanded={opened.has(row.producer_id)}
                    onClick={() => turn(row.producer_id)}
                  >
                    {say.partitionsWritten(row.partition_count)}
                  </button>
                </td>
              </tr>
              {opened.has(row.producer_id) && (
                <tr>
                  <td colSpan={5}>
                    <Traces producer={row} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function Open({ producer }: { producer: Producer }) {
  const open = producer.transaction;
  if (!open) return <span className="ps-muted">{say.noneOpen}</span>;
  return (
    <>
      <Standing standing={open.standing} />
      {open.started_at_ms !== null && (
        <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
          {open.timeout_ms === null
            ? say.begun(<RelTime at={open.started_at_ms} />)
            : say.begunWithTimeout(
                <RelTime at={open.started_at_ms} />,
                <Quantity of="spanMs" value={open.timeout_ms} />,
              )}
        </div>
      )}
    </>
  );
}

function Traces({ producer }: { producer: Producer }) {
  const left = producer.partition_count - producer.partitions.length;
  return (
    <ScrollBox label={say.partitionsOfProducer(producer.producer_id)}>
      <table className="ps-table" aria-label={say.partitionsOfProducer(producer.producer_id)}>
        <thead>
          <tr>
            <th scope="col" data-align="right">
              {say.partition}
            </th>
            <th scope="col" data-align="right">
              {say.epoch}
            </th>
            <th scope="col" data-align="right">
              {say.lastSequence}
            </th>
            <th scope="col">{say.lastRecord}</th>
            <th scope="col" data-align="right">
              {say.coordinatorEpoch}
            </th>
            <th scope="col" data-align="right">
              {say.openSinceOffset}
            </th>
            <th scope="col">{say.transaction}</th>
          </tr>
        </thead>
        <tbody>
          {producer.partitions.map((row) => (
            <tr key={row.partition}>
              <td data-align="right">{row.partition}</td>
              <td data-align="right">{formatInteger(row.epoch)}</td>
              <td data-align="right">{formatInteger(row.last_sequence)}</td>
              <td>
                <RelTime at={row.last_timestamp_ms} fallback={say.notKnown} />
              </td>
              <td data-align="right">{formatInteger(row.coordinator_epoch)}</td>
              <td data-align="right">{formatInteger(row.open_since_offset)}</td>
              <td>
                {row.standing === null ? (
                  <span className="ps-muted">{say.noneOpen}</span>
                ) : (
                  <Standing standing={row.standing} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <div className="ps-muted">{say.andMorePartitions(left)}</div>}
    </ScrollBox>
  );
}

/** What to do about transactions that are not ended: late ones have a cause to find, hanging ones are aborted. */
function Advice({ producers, clusterId, topic }: { producers: Producer[]; clusterId: string; topic: string }) {
  const hanging = producers.filter((row) => row.transaction?.standing === "hanging");
  const late = producers.length - hanging.length;
  const { text, left } = abortCommands(topic, hanging);
  return (
    <div className="ps-card-body ps-stack">
      {late > 0 && (
        <Notice tone="warn" title={say.late(late)} action={<Runbook clusterId={clusterId} topic={topic} />}>
          {say.whatToDoAboutLate}
        </Notice>
      )}
      {hanging.length > 0 && (
        <>
          <Notice
            tone="bad"
            title={say.hanging(hanging.length)}
            action={<Runbook clusterId={clusterId} topic={topic} />}
          >
            {say.whatToDoAboutHanging}
          </Notice>
          <CodeBlock label={say.commandsToAbort} text={text} />
          {left > 0 && <div className="ps-muted">{say.andMorePartitions(left)}</div>}
        </>
      )}
    </div>
  );
}

const Runbook = ({ clusterId, topic }: { clusterId: string; topic: string }) => (
  <Link
    to="/runbooks/$runbookId"
    params={{ runbookId: "transactions-late" }}
    search={{ cluster: clusterId, topic }}
    className="ps-link"
  >
    {say.followTheRunbook}
  </Link>
);
