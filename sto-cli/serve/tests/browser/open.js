'use strict';
// Opens pages of the server at $STO_PAGES in Chromium, for tests.
const assert = require('node:assert/strict');
const { after, before } = require('node:test');
const puppeteer = require('puppeteer-core').default ?? require('puppeteer-core');

const SERVER = process.env.STO_PAGES;

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
  await page.goto(SERVER + path, { waitUntil: 'networkidle0', timeout: 60000 });
  await page.waitForSelector('#main:not([aria-busy])', { timeout: 60000 });
  try {
    await use(page);
    assert.deepEqual(complaints, []);
  } finally {
    await page.close();
  }
}

const addressOf = (page) => new URL(page.url());
const textOf = (page, selector) => page.$eval(selector, (found) => found.textContent);
/** Waits until a condition holds in the page. */
const until = (page, condition, ...values) => page.waitForFunction(condition, { timeout: 30000 }, ...values);

module.exports = { SERVER, addressOf, newPage: () => browser.newPage(), open, textOf, until };
