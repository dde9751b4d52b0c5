import { Router, type Request } from 'express';
import { PAGE_HEADERS, rootPath } from '../html.ts';
import { scriptPageHeaders } from '../script-page-headers.ts';
import { FOREVER, onceEach, sendFile, toStaticFile } from '../static-file.ts';
import { locateOperations, type Document } from './document.ts';
import { interactiveDocument } from './interactive-document.ts';
import { BUNDLE, readBundle, readOwnFiles } from './interactive-files.ts';
import { interactivePage } from './interactive-html.ts';
import { operationList, operationPage, referenceIndexPage, type Reference } from './reference-html.ts';

const ASSET_PATH = '/docs/assets/:file';

/** The routes of the reference. */
export const REFERENCE_PATHS = ['/docs', '/docs/operations', ASSET_PATH, '/docs/:operationId'];

/** The bundle sets styles in elements. */
const HEADERS = scriptPageHeaders("'unsafe-inline'");

interface Dependencies {
  readonly document: Document;
  readonly baseUrl: () => string;
  readonly webUrl: () => string;
}

/**
 * The API reference: an interactive page, and plain pages for readers without JavaScript, search engines and agents.
 */
export function createReferencePages({ document, baseUrl, webUrl }: Dependencies): Router {
  const operations = locateOperations(document);
  const router = Router({ caseSensitive: true, strict: true });
  const own = readOwnFiles();
  const files = onceEach((name) => (name === BUNDLE ? readBundle() : own.files.get(name)));
  const documents = onceEach((key) => {
    const [base, root] = key.split(' ') as [string, string];
    const content = interactiveDocument({ document, operations, baseUrl: base, root });
    return toStaticFile(JSON.stringify(content), 'application/json');
  });

  const reference = (): Reference => ({
    document,
    operations,
    baseUrl: baseUrl(),
    root: rootPath(webUrl()),
  });

  const interactive = onceEach((root) => {
    const assets = `${root}/docs/assets`;
    const addresses = {
      bundle: `${assets}/${BUNDLE}`,
      document: `${assets}/openapi.json`,
      script: `${assets}/${own.script}`,
      style: `${assets}/${own.style}`,
    };
    const html = interactivePage(root, addresses, operationList(reference()));
    return toStaticFile(html, 'text/html; charset=utf-8');
  });

  router.get('/docs', async (request, response) => {
    const file = interactive(reference().root);
    await sendFile(request, response, file, { ...HEADERS, 'Cache-Control': 'no-cache' });
  });
  router.get('/docs/operations', (_request, response) => {
    response.set(PAGE_HEADERS).type('html').send(referenceIndexPage(reference()));
  });
  router.get('/docs/assets/openapi.json', async (request, response) => {
    const { root } = reference();
    const file = documents(`${baseUrl()} ${root}`);
    await sendFile(request, response, file, { ...HEADERS, 'Cache-Control': 'no-cache' });
  });
  router.get(ASSET_PATH, async (request: Request<{ file: string }>, response, next) => {
    const file = files(request.params.file);
    if (!file) return next();
    await sendFile(request, response, file, { ...HEADERS, 'Cache-Control': FOREVER });
  });
  router.get('/docs/:operationId', (request, response, next) => {
    const located = operations.get(request.params.operationId);
    if (!located) return next();
    response.set(PAGE_HEADERS).type('html').send(operationPage(reference(), located));
  });
  return router;
}
