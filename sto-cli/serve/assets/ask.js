'use strict';
// Questions to the server. Their requests and answers are described by the JSON schemas of the library.

/** An error of the server, as RFC 9457 describes it, or of the way to it. */
export class Problem extends Error {
  /**
   * @param {number} status HTTP status; 0 if the server did not answer.
   * @param {string} title
   * @param {string} detail
   */
  constructor(status, title, detail) {
    super(detail || title);
    this.status = status;
    this.title = title;
  }
}

/**
 * Profiles as the library takes them: by a selector, or by their content ids.
 * @typedef {{selector: string} | {runs: string[]}} BuildRef
 */

/**
 * Asks a question, such as `ask('top', { named: { selector: 'v2' }, limit: 10 })`.
 * @param {string} question Its name, as in the library.
 * @param {object} request
 * @param {AbortSignal} [signal] Cancels the question.
 * @returns {Promise<any>} The answer's JSON.
 */
export async function ask(question, request, signal) {
  const response = await send(question, request, 'application/json', signal);
  return response.json();
}

/**
 * Sends a question and checks the status of the response.
 * @param {string} question
 * @param {object} request
 * @param {string} accept Media type of the answer.
 * @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
export async function send(question, request, accept, signal) {
  const headers = { 'content-type': 'application/json', accept };
  const body = JSON.stringify(request);
  return call(`/api/v1/questions/${question}`, { method: 'POST', headers, body, signal });
}

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
