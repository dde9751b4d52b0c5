import type { Page } from 'playwright-core';

/** What runs in the page. */
const FIND = String.raw`(() => {
  const faults = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) {
    const range = document.createRange();
    const wide = [...document.querySelectorAll('body *')].filter((each) => {
      range.selectNodeContents(each);
      return Math.max(range.getBoundingClientRect().right, each.getBoundingClientRect().right) > clientWidth + 1;
    });
    faults.push('wider than the window: ' + wide.slice(-2).map((each) => each.outerHTML.slice(0, 200)).join(' | '));
  }
  if (document.querySelector('[onerror], img[src="x"]')) faults.push('markup in a text became an element');
  for (const table of document.querySelectorAll('main table')) {
    const last = [...table.querySelectorAll('thead th')].findLast((cell) => cell.offsetWidth > 0);
    if (last && table.getBoundingClientRect().right - last.getBoundingClientRect().right > 2)
      faults.push('columns that leave a part of the table empty: ' + table.outerHTML.slice(0, 200));
    const names = [...table.querySelectorAll('thead th')].map((cell) => cell.textContent).filter(Boolean);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice) faults.push('two columns with the name ' + twice);
  }
  const isCut = (each) => each.offsetWidth > 0 && each.scrollWidth > each.clientWidth;
  for (const cell of document.querySelectorAll('th, td:has(> time)'))
    if (isCut(cell)) faults.push('cut off in a table: ' + cell.textContent);
  for (const badge of document.querySelectorAll('[class*="_badge_"]:not(:has(code))'))
    if (/^\p{Ll}/u.test(badge.textContent)) faults.push('a state in lower case: ' + badge.textContent);
  const isOutside = (inner, outer) =>
    inner.left < outer.left - 1 || inner.right > outer.right + 1 ||
    inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
  const windowBox = { left: 0, top: 0, right: clientWidth, bottom: innerHeight };
  const dialogs = [...document.querySelectorAll('[role$="dialog"]')];
  for (const over of [...dialogs, ...document.querySelectorAll('nav, [role="status"], :popover-open')]) {
    const { position } = getComputedStyle(over);
    if (position === 'fixed' && over.offsetWidth > 0 && isOutside(over.getBoundingClientRect(), windowBox))
      faults.push('outside of the window: ' + over.outerHTML.slice(0, 200));
  }
  for (const dialog of dialogs) {
    if (dialog.scrollWidth > dialog.clientWidth)
      faults.push('wider than its dialog: ' + dialog.textContent.slice(0, 200));
    const { left, right } = dialog.getBoundingClientRect();
    for (const each of dialog.querySelectorAll('*')) {
      let around = each.parentElement;
      while (around !== dialog && getComputedStyle(around).overflowX === 'visible') around = around.parentElement;
      const box = each.getBoundingClientRect();
      if (around === dialog && box.width > 1 && (box.left < left - 1 || box.right > right + 1))
        faults.push('beyond its dialog: ' + each.outerHTML.slice(0, 200));
    }
  }
  const place = document.createRange();
  const cutBy = (text) => {
    place.selectNodeContents(text);
    const { right, width } = place.getBoundingClientRect();
    if (width === 0) return;
    let box = text.parentElement;
    while (getComputedStyle(box).display === 'inline') box = box.parentElement;
    if (box.closest('.visually-hidden')) return;
    // An ellipsis is only for what is directly in its block: a badge inside of a cell just ends.
    if (getComputedStyle(box).textOverflow === 'ellipsis') return;
    for (; box !== document.body; box = box.parentElement) {
      const { overflowX } = getComputedStyle(box);
      if (overflowX === 'auto' || overflowX === 'scroll' || box.offsetWidth <= 1) return;
      if (overflowX !== 'visible' && right > box.getBoundingClientRect().right + 1) return box;
    }
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (/\d{4}-\d\d-\d\dT\d\d:\d\d/.test(data) && !parentElement.closest('pre, textarea, script'))
      faults.push('a time as the service writes it: ' + data.slice(0, 100));
    const box = data.trim() !== '' && cutBy(texts.currentNode);
    if (box) faults.push('cut without an ellipsis: ' + data.slice(0, 60) + ' in ' + box.outerHTML.slice(0, 200));
    if (!texts.currentNode.data.includes('\u202e')) continue;
    let isolate = texts.currentNode.parentElement;
    while (getComputedStyle(isolate).display === 'inline' && isolate.tagName !== 'BDI') isolate = isolate.parentElement;
    if (isolate.closest('pre')) continue;
    const text = isolate.textContent;
    const after = text.slice(text.lastIndexOf('\u202e') + 1).replace(/^evilW*/, '').trim();
    if (isolate.offsetWidth > 1 && after !== '')
      faults.push('reversed by a mark before it: ' + after + ' in ' + isolate.outerHTML.slice(0, 150));
  }
  return [...new Set(faults)];
})()`;

/**
 * What is wrong with how a page is laid out: it is wider than the window; a table does not fill its width, has two
 * columns of one name, or cuts off a time or a header; a text is cut without an ellipsis; a time is shown as the
 * service writes it; a state begins with a small letter; a dialog is partly outside of the window, or its content
 * outside of it; markup in a text became an element; or a mark for the direction of a text also concerns what follows.
 */
export const layoutFaultsOf = (page: Page): Promise<string[]> => page.evaluate<string[]>(FIND);
