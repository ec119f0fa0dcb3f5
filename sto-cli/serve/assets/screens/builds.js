'use strict';
import { element } from '../dom.js';

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/builds',
  title: 'Builds',
  async render(main) {
    main.append(element('h1', {}, this.title));
  },
};
