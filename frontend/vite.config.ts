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
          // Each group has all that its modules import, unless one before it has. Rolldown would make a file of what any two
          // pages share: up to 93 of them for a page, a few at a time over a connection.
          groups: [
            // What the first page needs anyway: each file more has headers and compresses by itself.
            { name: "frame", tags: ["$initial"], priority: 9 },
            // What nearly every page is made of.
            {
              name: "parts",
              test: /src[\\/]components[\\/](data-table|page-header|status|stats|operation-list)\.tsx/,
              priority: 8,
            },
            // The pages that most people see first take nothing along that others need.
            { name: "overview-page", test: /src[\\/]features[\\/]clusters[\\/]overview-page\.tsx/, priority: 7 },
            { name: "fields", test: /src[\\/]features[\\/]session[\\/]login-page\.tsx/, priority: 6 },
            // Loaded on every page as soon as it stands.
            { name: "menus", test: /src[\\/]app[\\/]shell[\\/]account-menu\.tsx/, priority: 5 },
            // Of some 45 pages and late parts.
            { name: "common", minShareCount: 24, priority: 4 },
            { name: "plans", test: /src[\\/]components[\\/]plan-flow\.tsx/, priority: 3 },
            { name: "controls", test: /node_modules/, minShareCount: 6, priority: 2 },
            { name: "several", test: /src[\\/]/, minShareCount: 6, priority: 1 },
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
