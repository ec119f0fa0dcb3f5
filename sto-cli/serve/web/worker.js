'use strict';
// A worker that answers the page's requests one after the other, so that the page never waits for them.
import { Library } from './library.js';

/**
 * @typedef {{id: number, address: string, body: string | File}} Request
 * @typedef {{id: number, status: number, bytes: Uint8Array<ArrayBuffer>}} Answer
 */

const compiled = fetch(new URL('sto.wasm', import.meta.url))
  .then((response) => response.arrayBuffer())
  .then((bytes) => WebAssembly.compile(bytes));
// The first answer tells the error.
compiled.catch(() => {});
/** @type {Library | null} */
let library = null;
/** @type {{address: string, body: Uint8Array | File}[]} Files that were opened. */
const opened = [];
let before = Promise.resolve();

addEventListener('message', ({ data }) => {
  before = before.then(() => answer(data));
});

/** @param {Request} request */
async function answer({ id, address, body }) {
  const answer = await answerTo(address, body).catch(failure);
  postMessage({ id, ...answer }, { transfer: [answer.bytes.buffer] });
}

/**
 * @param {string} address
 * @param {string | File} body
 */
async function answerTo(address, body) {
  library ??= await load();
  const answer = library.call(address, await bytesOf(body));
  if (body instanceof File && answer.status === 200) opened.push({ address, body });
  return answer;
}

/** Loads the library, and opens the files that it had opened if an error has ended it. */
async function load() {
  const fresh = new Library(await compiled);
  for (const { address, body } of opened) fresh.call(address, await bytesOf(body));
  return fresh;
}

/** @param {string | Uint8Array | File} body */
async function bytesOf(body) {
  if (body instanceof File) return new Uint8Array(await body.arrayBuffer());
  return body instanceof Uint8Array ? body : new TextEncoder().encode(body);
}

/** @param {unknown} error */
function failure(error) {
  const problem = problemOf(error);
  library = null;
  return { status: 500, bytes: new TextEncoder().encode(JSON.stringify(problem)) };
}

/** @param {unknown} error */
function problemOf(error) {
  if (library === null) {
    return { title: 'The library does not run', detail: `A file of this page is missing, or this browser is too old. (${error})` };
  }
  const message = library.message();
  return message
    ? { title: 'Internal error', detail: `Please report it: ${message}` }
    : { title: 'Not enough memory', detail: `Pages have 4 GB of memory at most; the command sto has no such limit. (${error})` };
}
