import "virtual:mantine.css";
import "./app/fonts.css";
import "./app/styles.css";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Providers, queryClient } from "./app/providers";
import { createAppRouter } from "./app/router";
import { setSignedOutHandler } from "./lib/api-client";
import { setSignedOut } from "./lib/signed-out";
import { speak } from "./words/languages";

const router = createAppRouter(queryClient);

setSignedOutHandler(() => setSignedOut(true));

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

// In the language of whoever looks from the first word on; with English nothing is waited for.
void speak().then(() =>
  createRoot(root).render(
    <StrictMode>
      <Providers>
        <RouterProvider router={router} />
      </Providers>
    </StrictMode>,
  ),
);
