import { Link } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import { Card, PartView } from "@/components/card";
import { CodeBlock } from "@/components/copy";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { RelTime } from "@/components/rel-time";
import { ScrollBox } from "@/components/scroll-box";
import { formatDurationMs, formatInteger, plural } from "@/lib/format";
import { usePage } from "@/lib/page";
import type { Producer, TopicProducers } from "@/lib/types";
import { abortCommands, advised } from "./hanging";
import { Standing } from "./standing";

/** Every leader is asked each time: less often than what is only read from tables. */
const PACE_MS = 30_000;

/** Who writes to the topic, as the leaders of its partitions remember, and what became of their transactions. */
export function ProducersCard({ clusterId, topic }: { clusterId: string; topic: string }) {
  const query = usePage("producers/{cluster_id}/{topic}", { cluster_id: clusterId, topic }, PACE_MS);
  return (
    <Card title="Producers">
      <PartView query={query} name="producers" rows={4}>
        {(found) => <Found found={found} clusterId={clusterId} topic={topic} />}
      </PartView>
      <div className="ps-card-body ps-muted" style={{ fontSize: "0.75rem" }}>
        Brokers remember producers that have a producer id: with idempotence, which Kafka’s clients have on by default,
        or with transactions. Plain producers leave no trace. One is forgotten when it has not written for
        producer.id.expiration.ms (a day by default); it gets a new id when it starts again without a transactional id.
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
          <Notice tone="warn" title="Not everything could be asked">
            {found.gaps.join("; ")}. {formatInteger(found.partitions_known)} of{" "}
            {plural(found.partition_count, "partition")} answered
            {nobody ? ", and knew of no producer" : ""}.
          </Notice>
        </div>
      )}
      {trouble.length > 0 && <Advice producers={trouble} clusterId={clusterId} topic={topic} />}
      {nobody && found.complete && (
        <Empty title="No producer with a producer id is remembered">
          Nobody has written to this topic of late, or only plain producers have. Whether records arrive is under
          Analyses.
        </Empty>
      )}
      {!nobody && <Table producers={producers} />}
      {count > producers.length && (
        <div className="ps-card-body">
          <Notice tone="info">
            The first {formatInteger(producers.length)} of {formatInteger(count)} are shown: those with open
            transactions, then who wrote last. The REST API lists all.
          </Notice>
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
    <ScrollBox label="Producers">
      <table className="ps-table" aria-label="Producers">
        <thead>
          <tr>
            <th scope="col">Producer id</th>
            <th scope="col" data-align="right" className="ps-hide-sm">
              Epoch
            </th>
            <th scope="col">Last record</th>
            <th scope="col">Transaction</th>
            <th scope="col">Partitions</th>
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
                  <RelTime at={row.last_timestamp_ms} fallback="not known" />
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
                    {plural(row.partition_count, "partition")}
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
  if (!open) return <span className="ps-muted">none open</span>;
  return (
    <>
      <Standing standing={open.standing} />
      {open.started_at_ms !== null && (
        <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
          begun <RelTime at={open.started_at_ms} />
          {open.timeout_ms !== null && `, timeout ${formatDurationMs(open.timeout_ms)}`}
        </div>
      )}
    </>
  );
}

function Traces({ producer }: { producer: Producer }) {
  const left = producer.partition_count - producer.partitions.length;
  return (
    <ScrollBox label={`Partitions of producer ${producer.producer_id}`}>
      <table className="ps-table" aria-label={`Partitions of producer ${producer.producer_id}`}>
        <thead>
          <tr>
            <th scope="col" data-align="right">
              Partition
            </th>
            <th scope="col" data-align="right">
              Epoch
            </th>
            <th scope="col" data-align="right">
              Last sequence
            </th>
            <th scope="col">Last record</th>
            <th scope="col" data-align="right">
              Coordinator epoch
            </th>
            <th scope="col" data-align="right">
              Open since offset
            </th>
            <th scope="col">Transaction</th>
          </tr>
        </thead>
        <tbody>
          {producer.partitions.map((row) => (
            <tr key={row.partition}>
              <td data-align="right">{row.partition}</td>
              <td data-align="right">{formatInteger(row.epoch)}</td>
              <td data-align="right">{formatInteger(row.last_sequence)}</td>
              <td>
                <RelTime at={row.last_timestamp_ms} fallback="not known" />
              </td>
              <td data-align="right">{formatInteger(row.coordinator_epoch)}</td>
              <td data-align="right">{formatInteger(row.open_since_offset)}</td>
              <td>
                {row.standing === null ? (
                  <span className="ps-muted">none open</span>
                ) : (
                  <Standing standing={row.standing} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <div className="ps-muted">and {plural(left, "more partition")}</div>}
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
        <Notice
          tone="warn"
          title={`${plural(late, "producer")} ${late === 1 ? "has" : "have"} a transaction that is open for longer than its timeout`}
          action={<Runbook clusterId={clusterId} topic={topic} />}
        >
          Its coordinator should have ended it, and could not yet: see whether all its partitions have a leader and
          enough replicas in sync. Consumers with read_committed wait at the offset where it begins. Do not abort it by
          hand: it may still be committed elsewhere.
        </Notice>
      )}
      {hanging.length > 0 && (
        <>
          <Notice
            tone="bad"
            title={`${plural(hanging.length, "producer")} ${hanging.length === 1 ? "has" : "have"} a hanging transaction`}
            action={<Runbook clusterId={clusterId} topic={topic} />}
          >
            No coordinator knows it, so nobody will end it. Consumers with read_committed do not get past the offset
            where it begins, and nothing behind that is compacted. Stop the producer, then abort the transaction in each
            partition with Kafka’s own tool; its records then count as aborted.
          </Notice>
          <CodeBlock label="Commands to abort" text={text} />
          {left > 0 && <div className="ps-muted">and {plural(left, "more partition")}</div>}
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
    Follow the runbook
  </Link>
);
