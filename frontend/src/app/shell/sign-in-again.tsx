import { lazy, Suspense, useEffect, useState } from "react";
import { useSignedOut } from "@/lib/signed-out";

const load = () => import("./sign-in-again-dialog").then((module) => ({ default: module.SignInAgainDialog }));
const Dialog = lazy(load);

/** When the page is quiet: the dialog has to be there already when the server can no longer be asked for it. */
const LOADED_AFTER_MS = 5_000;

/** The login over the page, once its session has ended. */
export function SignInAgain() {
  const isGone = useSignedOut();
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => undefined), LOADED_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (isGone && !wanted) setWanted(true);
  // It stays mounted after that, so that it leaves and gives the focus back as it should.
  return (
    wanted && (
      <Suspense>
        <Dialog isGone={isGone} />
      </Suspense>
    )
  );
}
