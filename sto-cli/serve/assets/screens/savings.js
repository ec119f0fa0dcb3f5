'use strict';
import { element } from '../dom.js';

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/savings',
  title: 'Savings',
  async render(main) {
    main.append(element('h1', {}, this.title));
  },
};
