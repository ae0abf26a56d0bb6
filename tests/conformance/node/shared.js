// What the programs of Node.js share: settings in, one line of JSON a case out.
import { readFileSync } from "node:fs";

export const [settingsPath, mode, modeTopic, modeProtocol] = process.argv.slice(2);
export const settings = JSON.parse(readFileSync(settingsPath, "utf8"));
export const { run, passwords, tokens } = settings;
export const RECORDS = 60;
export const values = (label) => Array.from({ length: RECORDS }, (_, n) => `${label}-${n}`);
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function eventually(check, what, seconds = 30) {
  const ends = Date.now() + seconds * 1000;
  while (Date.now() < ends) {
    if (await check()) return;
    await sleep(100);
  }
  throw new Error(`not within ${seconds} s: ${what}`);
}

export const versionOf = (name) =>
  JSON.parse(readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url))).version;

/** The client, as it is installed here, has no way to do it. */
export class Absent extends Error {}

export async function judge(version, cases) {
  console.log(JSON.stringify({ version }));
  for (const [name, body] of Object.entries(cases)) {
    if (name in settings.skip || (settings.only.length && !settings.only.includes(name))) continue;
    const began = Date.now();
    let [status, detail] = ["passed", ""];
    try {
      await body();
    } catch (error) {
      if (error instanceof Absent) {
        [status, detail] = ["absent", error.message];
      } else {
        console.error(name, error);
        [status, detail] = ["failed", `${error.name}: ${error.message}`.slice(0, 300)];
      }
    }
    console.log(JSON.stringify({ case: name, status, detail, ms: Date.now() - began }));
  }
  console.log(JSON.stringify({ done: true }));
  process.exit(0);
}
