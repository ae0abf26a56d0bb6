import { useEffect, useState } from "react";
import { createPortal } from "react-dom";
import { type Around, Bubble, placeOf } from "@/components/hint";

interface Shown {
  exact: string;
  around: Around;
}

/** A finger has no hover: a tap on a number shows its exact value, until the next tap, a scroll, or Escape. */
export function ExactOnTap() {
  const [shown, setShown] = useState<Shown | null>(null);
  useEffect(() => {
    const hide = () => setShown(null);
    const onTap = ({ pointerType, target }: PointerEvent) => {
      const found = pointerType === "touch" && target instanceof Element ? target.closest("span[data-exact]") : null;
      const exact = found?.getAttribute("data-exact");
      setShown(found instanceof HTMLElement && exact ? { exact, around: placeOf(found) } : null);
    };
    const onKey = ({ key }: KeyboardEvent) => key === "Escape" && hide();
    document.addEventListener("pointerup", onTap);
    window.addEventListener("keydown", onKey);
    window.addEventListener("scroll", hide, true);
    return () => {
      document.removeEventListener("pointerup", onTap);
      window.removeEventListener("keydown", onKey);
      window.removeEventListener("scroll", hide, true);
    };
  }, []);
  if (!shown) return null;
  return createPortal(
    <Bubble key={shown.exact} id="exact-on-tap" label={shown.exact} around={shown.around} />,
    document.body,
  );
}
