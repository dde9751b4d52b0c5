import { escape, siteBar } from '../html.ts';
import { PAGE_STYLE } from '../page-style.ts';

/** The addresses of what the page loads. */
export interface InteractiveFiles {
  readonly bundle: string;
  readonly document: string;
  readonly script: string;
  readonly style: string;
}

/**
 * The interactive reference.
 * @param list the operations as HTML, which stay without JavaScript and until the bundle runs
 */
export function interactivePage(
  root: string,
  { bundle, document, script, style }: InteractiveFiles,
  list: string,
): string {
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="latchkey-base" content="${escape(root)}">
  <meta name="description" content="Every operation of the API, with examples in eight languages, errors, and a form
    that sends requests.">
  <title>API reference - Latchkey</title>
  <link rel="icon" href="${escape(root)}/favicon.ico">
  <style id="plain">${PAGE_STYLE}</style>
  <link rel="stylesheet" href="${escape(style)}">
  <noscript><style>#reference > .loading { display: none }</style></noscript>
  <link rel="preload" as="script" href="${escape(bundle)}" fetchpriority="low">
  <script src="${escape(script)}" defer></script>
</head>
<body>
${siteBar(root, 'reference', '<span id="session" role="status"></span>')}
<div id="reference" data-bundle="${escape(bundle)}" data-document="${escape(document)}">
  <p class="loading" role="status">The interactive reference is loading. Until then, this is the list of operations.</p>
  <main class="prose">${list}</main>
</div>
</body>
</html>
`;
}
