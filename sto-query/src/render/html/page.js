'use strict';
// Nothing can be expanded on paper: print all collapsed elements expanded.
{
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('details:not([open])')];
    for (const details of opened) details.open = true;
  });
  addEventListener('afterprint', () => {
    for (const details of opened) details.open = false;
  });
}
// A link expands its target and all elements around it.
{
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let element = target; element; element = element.parentElement) {
      if (element.localName === 'details') element.open = true;
    }
    if (target) target.scrollIntoView();
  };
  addEventListener('hashchange', open);
  open();
}
