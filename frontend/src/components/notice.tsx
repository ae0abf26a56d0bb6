import { IconAlertTriangle, IconCircleCheck, IconInfoCircle, IconXboxX } from "@tabler/icons-react";
import type { ReactNode } from "react";

type NoticeTone = "info" | "warn" | "bad" | "ok";
const ICONS = { info: IconInfoCircle, warn: IconAlertTriangle, bad: IconXboxX, ok: IconCircleCheck };

interface NoticeProps {
  tone: NoticeTone;
  title?: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
}

export function Notice({ tone, title, children, action }: NoticeProps) {
  const Icon = ICONS[tone];
  return (
    <div
      className="ps-notice"
      data-tone={tone}
      data-line={!(title && children)}
      role={tone === "bad" ? "alert" : "status"}
    >
      <Icon size={17} aria-hidden className={`ps-${tone === "info" ? "run" : tone}`} />
      <div>
        {title && <div style={{ fontWeight: 600 }}>{title}</div>}
        {children && <div className={title ? "ps-muted" : undefined}>{children}</div>}
      </div>
      {action}
    </div>
  );
}
