'use strict';
import { element } from '../dom.js';

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/profile',
  title: 'Profile',
  async render(main) {
    main.append(element('h1', {}, this.title));
  },
};
