import type { ReactNode } from "react";

interface MeteredProps {
  /** 0 to 1. */
  share: number;
  children: ReactNode;
  hint?: string;
}

/** A number with a thin bar beside it that compares it with its neighbours. */
export function Metered({ share, children, hint }: MeteredProps) {
  const percent = Number.isFinite(share) ? 100 * Math.min(1, Math.max(0, share)) : 0;
  return (
    <span className="ps-metered" title={hint}>
      <span className="ps-meter" aria-hidden>
        <i style={{ width: `${percent}%` }} />
      </span>
      <span>{children}</span>
    </span>
  );
}
