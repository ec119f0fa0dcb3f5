'use strict';
// Paper has nothing to click on: everything that is folded is printed open.
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
// A link opens what it leads to, and all around that.
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
