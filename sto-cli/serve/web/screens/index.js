'use strict';
// The screens that need no server, in the order of the navigation. The first is the one of `/`.
import { screen as compare } from './compare.js';
import { screen as open } from './open.js';
import { screen as profile } from './profile.js';

/** @type {readonly import('../shell/router.js').Screen[]} */
export const screens = [open, profile, compare];
