import { Button } from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { Card } from "@/components/card";
import { Notice } from "@/components/notice";
import { KeptFor } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { Status } from "@/components/status";
import type { TopicLease } from "@/lib/types";
import { words } from "@/words/topics";

const say = words.leaseCard;

interface LeaseCardProps {
  lease: TopicLease;
  /** Plans its end, of this lease and no later one; null for those who may not. */
  onRestore?: (operationId: string) => void;
  onExtend?: () => void;
}

/** A longer retention that ends by itself: until when, and what it was before. */
export function LeaseCard({ lease, onRestore, onExtend }: LeaseCardProps) {
  const isEnding = lease.state === "restoring";
  return (
    <Card
      title={say.keptLongerForATime}
      aside={
        isEnding ? (
          <Status tone="run" label={say.beingPutBack} pulse />
        ) : (
          <>
            {onExtend && (
              <Button variant="default" onClick={onExtend}>
                {say.extend}
              </Button>
            )}
            {onRestore && (
              <Button
                variant="default"
                leftSection={<IconArrowBackUp size={15} />}
                onClick={() => onRestore(lease.operation_id)}
              >
                {say.putItBackNow}
              </Button>
            )}
          </>
        )
      }
      padded
    >
      {lease.problem && (
        <div style={{ marginBottom: 12 }}>
          <Notice tone="warn" title={say.endIsTriedAgain}>
            {lease.problem}
          </Notice>
        </div>
      )}
      <dl className="ps-kv">
        <dt>{say.keptFor}</dt>
        <dd>
          <KeptFor ms={lease.to_ms} />
        </dd>
        <dt>{say.before}</dt>
        <dd>
          <KeptFor ms={lease.from_ms} />
        </dd>
        <dt>{say.until}</dt>
        <dd>
          <RelTime at={lease.until} />
          <span className="ps-muted">{say.thenItGoesBack}</span>
        </dd>
        <dt>{say.begunBy}</dt>
        <dd>
          <Link to="/operations/$operationId" params={{ operationId: lease.operation_id }} className="ps-link ps-mono">
            {lease.operation_id}
          </Link>
        </dd>
      </dl>
    </Card>
  );
}
