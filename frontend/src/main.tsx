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

const router = createAppRouter(queryClient);

setSignedOutHandler(() => setSignedOut(true));

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

createRoot(root).render(
  <StrictMode>
    <Providers>
      <RouterProvider router={router} />
    </Providers>
  </StrictMode>,
);
