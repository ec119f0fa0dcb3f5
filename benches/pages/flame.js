'use strict';
// Prints how long the flame graph of the pages takes to lay out and to draw, with 100,000 and a million nodes, and how
// soon addresses of a running server are painted:
//
//     NODE_PATH=FOLDER/node_modules node benches/pages/flame.js [ADDRESS...]
//
// The folder has puppeteer-core. Frames are drawn one after the other, each read back, with the software renderer.
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const puppeteer = require('puppeteer-core').default ?? require('puppeteer-core');

const ASSETS = path.join(__dirname, '../../sto-cli/serve/assets');
const NODES = [100_000, 1_000_000];
const FRAMES = 60;

/** Serves the assets, and an empty page with their styles. */
function serveAssets() {
  const styles = fs.readdirSync(path.join(ASSETS, 'styles')).map((name) => `<link rel="stylesheet" href="/styles/${name}">`);
  const types = { '.js': 'text/javascript', '.css': 'text/css' };
  const server = http.createServer((request, response) => {
    const file = path.join(ASSETS, path.normalize(request.url));
    const type = types[path.extname(file)];
    response.setHeader('content-type', type ?? 'text/html');
    response.end(type ? fs.readFileSync(file) : `<!doctype html>${styles.join('')}<main></main>`);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** Runs in the page: draws a tree of so many nodes, and returns times in milliseconds. */
async function measure(count, frameCount) {
  const { Stacks, NONE } = await import('/components/stacks.js');
  const { FlameGraph } = await import('/components/flame.js');
  let state = 7;
  const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  const parent = new Uint32Array(count).fill(NONE);
  const frame = new Uint32Array(count);
  const self = new Float64Array(count);
  const depth = new Uint8Array(count);
  for (let node = 1; node < count; node += 1) {
    let caller = random() < 0.7 ? Math.max(0, node - 1 - Math.floor(random() * 2000)) : Math.floor(random() * node);
    while (depth[caller] > 60) caller = parent[caller];
    parent[node] = caller;
    depth[node] = depth[caller] + 1;
    frame[node] = Math.floor(random() * 5000);
    self[node] = Math.ceil(1 / (random() + 0.0001));
  }
  const frames = Array.from({ length: 5000 }, (_, ix) => ({ name: `app::module::function_${ix}`, label: `function_${ix}`, module: 'app', file: '', kind: 'user' }));
  const timed = (run) => {
    const begin = performance.now();
    run();
    return performance.now() - begin;
  };
  let stacks;
  const layout = timed(() => (stacks = new Stacks(frames, { parent, frame, self })));
  const flame = new FlameGraph();
  document.querySelector('main').append(flame);
  flame.show({ stacks, colors: Uint8Array.from(frames, (_, ix) => ix % 3), describe: () => '', label: '' });
  const drawn = Array.from({ length: frameCount }, () =>
    timed(() => {
      flame.drawNow();
      flame.picture.context.getImageData(0, 0, 1, 1);
    }),
  ).sort((a, b) => a - b);
  const search = timed(() => {
    flame.query = 'function_1';
    flame.drawNow();
  });
  return { layout, least: drawn[0], median: drawn[frameCount >> 1], p95: drawn[Math.floor(frameCount * 0.95)], search };
}

/** Returns when the first flame graph of an address is on the screen, in milliseconds after its request. */
async function firstPaint(browser, address) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(address);
  await page.waitForFunction(() => document.querySelector('sto-flame')?.picture.names.length > 0, { polling: 'raf' });
  const time = await page.evaluate(() => performance.now());
  await page.close();
  return time;
}

async function main() {
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  const server = await serveAssets();
  for (const count of NODES) {
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 900 });
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const times = Object.entries(await page.evaluate(measure, count, FRAMES));
    console.log(`${count} nodes: ${times.map(([name, time]) => `${name} ${time.toFixed(1)} ms`).join(', ')}`);
    await page.close();
  }
  for (const address of process.argv.slice(2)) {
    await firstPaint(browser, address);
    console.log(`${address}: painted after ${(await firstPaint(browser, address)).toFixed(0)} ms`);
  }
  server.close();
  await browser.close();
}

main();
