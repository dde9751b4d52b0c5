declare global {
  var trustedTypes: { createPolicy(name: string, rules: Rules): unknown } | undefined;
}

interface Rules {
  createHTML(html: string): string;
  createScriptURL(url: string): string | null;
}

const ATTRIBUTES = String.raw`(?: (?!on)[\w:-]+="[^"<>]*")*`;
/** The drawings of the bundle's editor. */
const DRAWING = new RegExp(
  String.raw`^\s*<svg${ATTRIBUTES}>(?:<path${ATTRIBUTES} ?(?:/>|></path>))+</svg>\s*$`,
  'i',
);

/**
 * What scripts of the page may put into it as text. Markup is shown as the text that it is, except drawings, and no
 * script is loaded except the bundle.
 */
export function restrictMarkup(bundle: string): void {
  globalThis.trustedTypes?.createPolicy('default', {
    createHTML: (html) => (DRAWING.test(html) ? html : html.replaceAll('&', '&amp;').replaceAll('<', '&lt;')),
    createScriptURL: (url) => (url === bundle ? url : null),
  });
}
