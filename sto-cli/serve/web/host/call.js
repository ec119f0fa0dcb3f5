'use strict';
// Calls of the library, which runs in a worker.
import { Problem } from '../problem.js';

const worker = new Worker(new URL('../worker.js', import.meta.url), { type: 'module' });
/** @type {Map<number, PromiseWithResolvers<import('../worker.js').Answer>>} Calls without an answer yet. */
const waiting = new Map();
let count = 0;

worker.addEventListener('message', ({ data }) => {
  waiting.get(data.id)?.resolve(data);
  waiting.delete(data.id);
});
worker.addEventListener('error', ({ message }) => {
  const problem = new Problem(0, 'The library does not run', message || 'A file of this page is missing, or the browser is too old.');
  for (const { reject } of waiting.values()) reject(problem);
  waiting.clear();
});

/**
 * Calls the library like `fetch`.
 * @param {string} address Address on a server of sto.
 * @param {{method?: string, headers?: object, body?: string | File, signal?: AbortSignal}} [options]
 * @returns {Promise<Response>}
 * @throws {Problem} If it answers with an error.
 */
export async function call(address, { body = '', signal } = {}) {
  const id = (count += 1);
  /** @type {PromiseWithResolvers<import('../worker.js').Answer>} */
  const answered = Promise.withResolvers();
  waiting.set(id, answered);
  worker.postMessage({ id, address: address.replace('/api/v1/', ''), body });
  const { status, bytes } = await answered.promise;
  signal?.throwIfAborted();
  const response = new Response(bytes);
  if (status === 200) return response;
  const { title, detail } = await response.json();
  throw new Problem(status, title, detail);
}
