/// <reference types="vitest/config" />
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { mantineStylesPlugin } from "./vite/mantine-styles.ts";
import { precompressPlugin } from "./vite/precompress.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

// In development the API lives in another process; PENSTOCK_DEV_API names it.
const api = process.env.PENSTOCK_DEV_API ?? "http://127.0.0.1:8000";

export default defineConfig({
  base: "/",
  plugins: [react(), mantineStylesPlugin(root), precompressPlugin()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: "dist",
    assetsDir: "assets",
    // Which files a page needs; tests/console/test_first_view.py adds them up.
    manifest: true,
    sourcemap: false,
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // One file for all that the first page needs anyway: each more has headers and compresses by itself.
            { name: "frame", tags: ["$initial"], priority: 1 },
            // And one for what nearly every page is made of, with all that it imports.
            { name: "parts", test: /src[\\/]components[\\/](data-table|page-header|status|stats|operation-list)\.tsx/ },
          ],
        },
      },
    },
  },
  server: { host: "127.0.0.1", proxy: { "/api": api, "/console": api } },
  // Mantine in jsdom takes seconds on a busy machine.
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["vitest.setup.ts"],
    testTimeout: 60_000,
    // Vitest leaves a core to its own process, which has next to nothing to do: of two that is half.
    maxWorkers: availableParallelism(),
    restoreMocks: true,
  },
});
