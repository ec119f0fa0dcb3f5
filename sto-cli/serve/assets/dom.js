'use strict';
// Names come from profiles, so they only become text and values of attributes, never HTML.

/** @typedef {string | Node | null | undefined | false} Content */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

/**
 * Creates an HTML element. Attributes that are functions are listeners of the event with that name; an attribute that is
 * `true` is empty, and one that is `false`, `null` or `undefined` is left out, as is such content.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...Content} content
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, attributes = {}, ...content) {
  const created = document.createElement(name);
  setAttributes(created, attributes);
  created.append(...present(content));
  return created;
}

/**
 * Creates an SVG element, with attributes and content as in `element`.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...Content} content
 * @returns {SVGElementTagNameMap[Name]}
 */
export function svg(name, attributes = {}, ...content) {
  const created = document.createElementNS('http://www.w3.org/2000/svg', name);
  setAttributes(created, attributes);
  created.append(...present(content));
  return created;
}

/**
 * @param {Element} created
 * @param {Attributes} attributes
 */
function setAttributes(created, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') created.addEventListener(key, value);
    else if (value === true) created.setAttribute(key, '');
    else if (value !== false && value != null) created.setAttribute(key, String(value));
  }
}

/**
 * @param {Content[]} content
 * @returns {(string | Node)[]}
 */
function present(content) {
  return /** @type {(string | Node)[]} */ (content.filter((part) => part !== null && part !== undefined && part !== false));
}

/**
 * Returns a place for elements that come later, or never if they cannot be had.
 * @param {Promise<Node[]>} coming
 */
export function later(coming) {
  const place = element('span');
  coming.then((nodes) => place.replaceWith(...nodes), () => place.remove());
  return place;
}
