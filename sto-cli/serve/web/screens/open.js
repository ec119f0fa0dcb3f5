'use strict';
// Opening files, which stay in this browser.
import { formatRuns } from '../build_ref.js';
import { element } from '../dom.js';
import { call } from '../host/call.js';
import { Problem } from '../problem.js';
import { go, linkTo } from '../shell/router.js';

/**
 * A file that was chosen.
 * @typedef {object} Chosen
 * @property {string} name
 * @property {string} build Value of a parameter of an address; empty if the file could not be opened.
 * @property {string[]} warnings
 * @property {string} problem
 */

/** @type {File[]} Files to open when the screen is shown. */
let chosen = [];
/** @type {Chosen[]} */
const opened = [];

/** @type {import('../shell/router.js').Screen} */
export const screen = {
  path: '/open',
  title: 'Open',
  async render(main) {
    const status = element('p', { role: 'status' });
    const list = element('ul', { class: 'opened' });
    main.append(element('h1', {}, 'Open profiles'), chooser(), status, list);
    const files = chosen;
    chosen = [];
    const now = [];
    const { programs, profiles } = await sorted(files);
    for (const program of programs) await call(`/api/v1/programs/${program.name}`, { body: program });
    for (const file of profiles) {
      status.textContent = `Reading ${file.name} …`;
      now.push(await open(file));
    }
    status.textContent = programs.length > 0 && profiles.length === 0 ? 'These are programs. Open their recordings, too.' : '';
    opened.unshift(...now);
    list.replaceChildren(...opened.map(described));
    if (now.length === 0 || now.length > 2 || now.some(({ build }) => build === '')) return;
    if (now.every(({ warnings }) => warnings.length === 0)) go(linkOf(now));
    else list.before(element('p', {}, element('a', { href: linkOf(now) }, now.length === 1 ? 'Show it' : 'Compare them')));
  },
};

function chooser() {
  const change = (/** @type {{target: HTMLInputElement}} */ { target }) => openAll(target.files ?? []);
  return element(
    'section',
    { class: 'panel drop' },
    element('label', {}, 'Choose a profile, or two to compare ', element('input', { type: 'file', multiple: true, change })),
    element('p', {}, 'or drop them here.'),
    element('p', { class: 'soft' }, 'Files in any format that sto knows: perf.data, pprof, JFR, V8, speedscope, folded stacks and many more. They stay in this browser: nothing is sent. Recordings of perf have no names of functions: choose the recorded programs, too.'),
  );
}

/** @param {Iterable<File>} files */
function openAll(files) {
  chosen = [...files];
  if (chosen.length > 0) go(linkTo('/open'));
}

/**
 * Tells profiles from native programs and libraries, which begin with `\x7fELF`.
 * @param {File[]} files
 */
async function sorted(files) {
  const starts = await Promise.all(files.map((file) => file.slice(0, 4).text()));
  const isProgram = (/** @type {File} */ _, /** @type {number} */ ix) => starts[ix] === '\x7fELF';
  return { programs: files.filter(isProgram), profiles: files.filter((file, ix) => !isProgram(file, ix)) };
}

/**
 * @param {File} file
 * @returns {Promise<Chosen>}
 */
async function open(file) {
  const { name } = file;
  try {
    const response = await call(`/api/v1/profiles/${name}`, { body: file });
    const { profiles, warnings } = await response.json();
    return { name, build: formatRuns(profiles), warnings, problem: '' };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { name, build: '', warnings: [], problem: error.message };
  }
}

/**
 * Returns a link to the screen that shows one or two files.
 * @param {Chosen[]} files
 */
function linkOf([first, second]) {
  return second ? linkTo('/compare', { baseline: first.build, candidate: second.build }) : linkTo('/profile', { build: first.build });
}

/** @param {Chosen} file */
function described({ name, build, warnings, problem }) {
  return element(
    'li',
    {},
    build === '' ? element('span', { class: 'name' }, name) : element('a', { class: 'name', href: linkTo('/profile', { build }) }, name),
    problem !== '' && element('p', { class: 'problem', role: 'alert' }, problem),
    ...warnings.map((warning) => element('p', { class: 'warnings' }, warning)),
  );
}

// Files can be dropped on every screen.
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  openAll(event.dataTransfer?.files ?? []);
});
