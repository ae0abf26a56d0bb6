import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { words } from "@/words/parts";

const say = words.brokerLink;

interface BrokerLinkProps {
  clusterId: string;
  id: number | string;
  /** Shown in place of "broker 3"; of a number alone the name says what it is of. */
  children?: ReactNode;
  className?: string;
}

/** A broker, which leads to its page. */
export function BrokerLink({ clusterId, id, children, className = "ps-link ps-tnum" }: BrokerLinkProps) {
  return (
    <Link
      to="/clusters/$clusterId/brokers/$broker"
      params={{ clusterId, broker: String(id) }}
      className={className}
      aria-label={children === id ? say.broker(id) : undefined}
    >
      {children ?? say.brokerWithin(id)}
    </Link>
  );
}

/** Several of them by number. */
export function BrokerLinks({ clusterId, ids }: { clusterId: string; ids: readonly number[] }) {
  return ids.map((id, index) => (
    <span key={id}>
      {index > 0 && ", "}
      <BrokerLink clusterId={clusterId} id={id}>
        {id}
      </BrokerLink>
    </span>
  ));
}
