import { readdirSync, readFileSync } from 'node:fs';
import { Router, type Request } from 'express';
import { escape, rootPath } from './html.ts';
import { scriptPageHeaders } from './script-page-headers.ts';
import { FOREVER, onceEach, sendFile, toStaticFile, type StaticFile } from './static-file.ts';

const FOLDER = new URL('../../../generated/dashboard/', import.meta.url);

const PAGE_PATHS = ['/dashboard', '/dashboard/', '/dashboard/*page'];
const ASSET_PATH = '/dashboard/assets/:file';

/** The paths of the dashboard. An address of any of its pages gets the same document. */
export const DASHBOARD_PATHS: readonly string[] = [ASSET_PATH, ...PAGE_PATHS];

const HEADERS = scriptPageHeaders();

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The dashboard: one document for all of its pages, and the files that it loads. */
export function createDashboardPages(webUrl: () => string): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const assets = readAssets();
  const template = readFileSync(new URL('index.html', FOLDER), 'utf8');
  const documents = onceEach((base) => toStaticFile(withBase(template, base), 'text/html; charset=utf-8'));

  router.get(ASSET_PATH, async (request: Request<{ file: string }>, response, next) => {
    const asset = assets.get(request.params.file);
    if (!asset) return next();
    await sendFile(request, response, asset, { ...HEADERS, 'Cache-Control': FOREVER });
  });
  router.get(PAGE_PATHS, async (request, response, next) => {
    if (request.path.startsWith('/dashboard/assets/')) return next();
    const document = documents(rootPath(webUrl()));
    await sendFile(request, response, document, { ...HEADERS, 'Cache-Control': 'no-cache' });
  });
  return router;
}

function readAssets(): ReadonlyMap<string, StaticFile> {
  const folder = new URL('assets/', FOLDER);
  return new Map(
    readdirSync(folder).map((file) => {
      const mediaType = MEDIA_TYPES[file.split('.').at(-1)!]!;
      return [file, toStaticFile(readFileSync(new URL(file, folder)), mediaType)];
    }),
  );
}

/** Fills in the path before `/dashboard`, because a proxy may hide a part of the address from the service. */
function withBase(template: string, base: string): string {
  const path = escape(base);
  return template
    .replace('name="latchkey-base" content=""', `name="latchkey-base" content="${path}"`)
    .replaceAll('="./', `="${path}/dashboard/`);
}
