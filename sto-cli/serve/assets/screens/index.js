'use strict';
// All screens, in the order of the navigation. The first is the one of `/`.
import { screen as builds } from './builds.js';
import { screen as compare } from './compare.js';
import { screen as inside } from './inside.js';
import { screen as overTime } from './over_time.js';
import { screen as profile } from './profile.js';
import { screen as savings } from './savings.js';
import { screen as sql } from './sql.js';
import { screen as status } from './status.js';

/** @type {readonly import('../shell/router.js').Screen[]} */
export const screens = [builds, profile, compare, overTime, inside, savings, sql, status];
