// node trace.mjs FILE [CATEGORY]...: Chromium's trace of page.js, as its developer tools record one.
import { readFileSync, writeFileSync } from "node:fs";
import { chromium } from "playwright-core";

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage();
const categories = ["-*", "devtools.timeline", "v8.execute", "disabled-by-default-v8.cpu_profiler", ...process.argv.slice(3)];
await browser.startTracing(page, { categories });
await page.setContent(`<script>${readFileSync("page.js")}</script>`);
const trace = JSON.parse(await browser.stopTracing());
await browser.close();

// Without what it says of the machine and of the network's constants.
const events = trace.traceEvents.map((event) => JSON.stringify(event)).join(",\n");
writeFileSync(process.argv[2], `{"traceEvents":[\n${events}\n],"metadata":{"clock-domain":"${trace.metadata["clock-domain"]}"}}\n`);
