/** Beside every file of the build that gets smaller: what it is as brotli (`.br`) and as gzip (`.gz`).
 *
 * The best that both can do is too slow for an answer, and is done once here. `console/assets.py` serves them. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const TEXT = /\.(js|css|html|svg|json|txt|map)$/;
/** Below it the headers are most of the answer. */
const SMALLEST_BYTES = 512;

export function brotli(content: Buffer): Buffer {
  return brotliCompressSync(content, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });
}

export function precompress(directory: string): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const path = join(directory, name);
    if (!TEXT.test(name) || !statSync(path).isFile()) continue;
    const content = readFileSync(path);
    if (content.length < SMALLEST_BYTES) continue;
    for (const [ending, made] of [
      [".br", brotli(content)],
      [".gz", gzipSync(content, { level: 9 })],
    ] as const)
      if (made.length < content.length) writeFileSync(path + ending, made);
  }
}

export function precompressPlugin(): Plugin {
  let directory = "";
  return {
    name: "penstock:precompress",
    apply: "build",
    configResolved(config) {
      directory = join(config.root, config.build.outDir);
    },
    closeBundle: () => precompress(directory),
  };
}
