'use strict';
// Errors, as the pages show them.

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
