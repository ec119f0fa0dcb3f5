'use strict';
// Opens pages in Chromium, for tests: those of the server at $STO_PAGES, or at any address.
const assert = require('node:assert/strict');
const { readFileSync } = require('node:fs');
const { after, before } = require('node:test');
const puppeteer = require('puppeteer-core').default ?? require('puppeteer-core');

const SERVER = process.env.STO_PAGES;
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

let browser;
before(async () => {
  // Containers lack the user namespaces that the sandbox needs, and the pages are trusted.
  browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
});
after(() => browser?.close());

/** Opens an address, calls `use` with the page, and checks that the page neither failed nor warned. */
async function open(path, use) {
  const page = await browser.newPage();
  const complaints = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(new URL(path, SERVER).href, { waitUntil: 'networkidle0', timeout: 60000 });
  await page.waitForSelector('#main:not([aria-busy])', { timeout: 60000 });
  try {
    await use(page);
    assert.deepEqual(complaints, []);
  } finally {
    await page.close();
  }
}

/** Returns what axe-core finds. It comes by the debugger, which the content security policy does not concern. */
async function violations(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
}

const addressOf = (page) => new URL(page.url());
const textOf = (page, selector) => page.$eval(selector, (found) => found.textContent);
/** Waits until a condition holds in the page. */
const until = (page, condition, ...values) => page.waitForFunction(condition, { timeout: 30000 }, ...values);

module.exports = { SERVER, addressOf, newPage: () => browser.newPage(), open, textOf, until, violations };
