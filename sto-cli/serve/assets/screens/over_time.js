'use strict';
import { element } from '../dom.js';

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/time',
  title: 'Over time',
  async render(main) {
    main.append(element('h1', {}, this.title));
  },
};
