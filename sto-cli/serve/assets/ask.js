'use strict';
// Questions to the library. Their requests and answers are described by its JSON schemas.
import { call } from './host/call.js';

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
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const body = JSON.stringify(request);
  const response = await call(`/api/v1/questions/${question}`, { method: 'POST', headers, body, signal });
  return response.json();
}
