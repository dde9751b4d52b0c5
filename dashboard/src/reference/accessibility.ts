/** What the bundle leaves out of its markup for readers who do not see it, each with what is put there. */
const CORRECTIONS: readonly (readonly [selector: string, correct: (element: Element) => void])[] = [
  // The tooltip of these buttons is no name.
  [
    'button[class*="copy-button"]:not([aria-label])',
    (button) => button.setAttribute('aria-label', 'Copy the code'),
  ],
  // Two operations have a region of this name, and regions are landmarks.
  ['.response-card[role="region"]', (card) => card.setAttribute('role', 'group')],
  ['button[role="none"]', (button) => button.removeAttribute('role')],
  // These fields open no list.
  [
    '[contenteditable][role="combobox"]:not([aria-expanded])',
    (field) => field.setAttribute('role', 'textbox'),
  ],
  [
    '.cm-content[aria-readonly="true"]:not([aria-label])',
    (viewer) => viewer.setAttribute('aria-label', 'Response body'),
  ],
  ['.cm-content:not([aria-label])', (editor) => editor.setAttribute('aria-label', 'Request body')],
  ['.cm-content:not([tabindex])', (editor) => editor.setAttribute('tabindex', '0')],
  // The form for a request has messages of its own.
  [
    '[role="dialog"] > section[aria-label^="Notifications"]',
    (section) => section.setAttribute('aria-label', 'Messages about the request'),
  ],
];

/** The form for a request is a dialog with a main content of its own, so that of the page is inert while it is open. */
function hideContentBehindForm(root: Element): void {
  // The bundle may have replaced either of them.
  const content = root.querySelector<HTMLElement>('main.references-rendered');
  if (content) content.inert = root.querySelector('.scalar-container.scalar-client--open') !== null;
  for (const form of root.querySelectorAll('.scalar-container:not([data-watched])')) {
    form.setAttribute('data-watched', '');
    new MutationObserver(() => hideContentBehindForm(root)).observe(form, { attributeFilter: ['class'] });
  }
}

/** Corrects the markup of the bundle now and whenever it changes. */
export function correctMarkup(root: Element): void {
  const correct = () => {
    for (const [selector, change] of CORRECTIONS)
      for (const element of root.querySelectorAll(selector)) change(element);
    hideContentBehindForm(root);
  };
  correct();
  new MutationObserver(correct).observe(root, {
    subtree: true,
    childList: true,
    attributeFilter: ['aria-label', 'role'],
  });
}
