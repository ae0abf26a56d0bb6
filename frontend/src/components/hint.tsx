import { cloneElement, type FocusEvent, type PointerEvent, type ReactElement, useEffect, useId, useState } from "react";
import { createPortal } from "react-dom";

const GAP_PX = 6;
const DELAY_MS = 250;
const MARGIN_PX = 8;

export interface Around {
  left: number;
  top: number;
  bottom: number;
  middle: number;
}

interface TargetProps {
  onPointerEnter?: (event: PointerEvent<HTMLElement>) => void;
  onPointerLeave?: (event: PointerEvent<HTMLElement>) => void;
  onFocus?: (event: FocusEvent<HTMLElement>) => void;
  onBlur?: (event: FocusEvent<HTMLElement>) => void;
  "aria-describedby"?: string;
}

interface HintProps {
  label: string;
  /** One element that takes handlers; what it does with them itself goes on. */
  children: ReactElement<TargetProps>;
}

/** A sentence about what the pointer or the focus is on; Escape puts it away.
 *
 * Not Mantine's tooltip: what places that one is a tenth of what the first view may load, and marks of states are on
 * every page. */
export function Hint({ label, children }: HintProps) {
  const id = useId();
  const [around, setAround] = useState<Around | null>(null);
  const [due, setDue] = useState<HTMLElement | null>(null);
  const leave = () => {
    setDue(null);
    setAround(null);
  };
  useEffect(() => {
    if (!due) return undefined;
    const timer = setTimeout(() => setAround(placeOf(due)), DELAY_MS);
    return () => clearTimeout(timer);
  }, [due]);
  useEffect(() => {
    if (!around) return undefined;
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && leave();
    window.addEventListener("keydown", onKey);
    window.addEventListener("scroll", leave, true);
    return () => {
      window.removeEventListener("keydown", onKey);
      window.removeEventListener("scroll", leave, true);
    };
  }, [around]);
  const own = children.props;
  return (
    <>
      {cloneElement(children, {
        "aria-describedby": around ? id : own["aria-describedby"],
        onPointerEnter: (event) => {
          own.onPointerEnter?.(event);
          setDue(event.currentTarget);
        },
        onPointerLeave: (event) => {
          own.onPointerLeave?.(event);
          leave();
        },
        onFocus: (event) => {
          own.onFocus?.(event);
          setDue(event.currentTarget);
        },
        onBlur: (event) => {
          own.onBlur?.(event);
          leave();
        },
      })}
      {around && createPortal(<Bubble id={id} label={label} around={around} />, document.body)}
    </>
  );
}

export function placeOf(element: HTMLElement): Around {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return { left, top, bottom, middle: (left + right) / 2 };
}

export function Bubble({ id, label, around }: { id: string; label: string; around: Around }) {
  const [shift, setShift] = useState({ x: 0, isBelow: false, measured: false });
  const measure = (bubble: HTMLDivElement | null) => {
    if (!bubble || shift.measured) return;
    const { width, height } = bubble.getBoundingClientRect();
    const wanted = around.middle - width / 2;
    const last = document.documentElement.clientWidth - width - MARGIN_PX;
    setShift({
      x: Math.max(MARGIN_PX, Math.min(wanted, last)) - wanted,
      isBelow: around.top - height - GAP_PX < MARGIN_PX,
      measured: true,
    });
  };
  return (
    <div
      ref={measure}
      id={id}
      role="tooltip"
      className="ps-hint"
      data-below={shift.isBelow}
      style={{
        left: around.middle + shift.x,
        top: shift.isBelow ? around.bottom + GAP_PX : around.top - GAP_PX,
      }}
    >
      {label}
    </div>
  );
}
