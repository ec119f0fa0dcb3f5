'use strict';
// Calls of the server.
import { Problem } from '../problem.js';

/**
 * Calls the server like `fetch`.
 * @param {string} address
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 * @throws {Problem} If the server cannot be reached or answers with an error.
 */
export async function call(address, options = {}) {
  let response;
  try {
    // An address relative to the page would have its user name and password, which `fetch` refuses.
    response = await fetch(new URL(address, location.origin), { credentials: 'same-origin', ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem(0, 'No connection', 'The server does not answer. Is `sto serve` or `sto ui` still running?');
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

/**
 * @param {Response} response
 * @returns {Promise<Problem>}
 */
async function problemOf(response) {
  const text = await response.text();
  try {
    const { title, detail } = JSON.parse(text);
    return new Problem(response.status, title, detail);
  } catch {
    return new Problem(response.status, response.statusText, text);
  }
}
