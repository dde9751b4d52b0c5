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
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
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
 * What is wrong with how a page is laid out: it is wider than the window, a table does not fill its width, markup in a
 * text became an element, or a mark for the direction of a text also concerns what follows the text.
 */
export const layoutFaultsOf = (page: Page): Promise<string[]> => page.evaluate<string[]>(FIND);
