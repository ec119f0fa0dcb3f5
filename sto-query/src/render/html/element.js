'use strict';
/** Creates an HTML element, also within a drawing. Attributes that are functions are event listeners. */
function element(name, attributes, ...content) {
  const created = document.createElementNS('http://www.w3.org/1999/xhtml', name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') created.addEventListener(key, value);
    else created.setAttribute(key, value);
  }
  created.append(...content);
  return created;
}
