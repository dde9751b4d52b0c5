import { Router } from 'express';
import { PAGE_HEADERS, rootPath } from '../html.ts';
import { guideIndexPage, guidePage, type GuideAddresses } from './guide-html.ts';
import { onceEach, sendFile, toStaticFile } from '../static-file.ts';
import { readGuides } from './guides.ts';

/** The routes of the guides. */
export const GUIDE_PATHS = ['/guides', '/guides/:name'];

interface Dependencies {
  readonly baseUrl: () => string;
  readonly webUrl: () => string;
}

/** The guides of the repository as pages. A name is looked up in a list, so no other file can be read. */
export function createGuidePages({ baseUrl, webUrl }: Dependencies): Router {
  const guides = readGuides();
  const router = Router({ caseSensitive: true, strict: true });
  const addresses = (): GuideAddresses => ({
    baseUrl: baseUrl(),
    webUrl: webUrl(),
    root: rootPath(webUrl()),
  });

  const toFile = (html: string) => toStaticFile(html, 'text/html; charset=utf-8');
  const index = onceEach(() => toFile(guideIndexPage(guides, addresses())));
  const pages = onceEach((wanted) => {
    const guide = guides.find(({ name }) => name === wanted);
    return guide && toFile(guidePage(guide, guides, addresses()));
  });

  router.get('/guides', (request, response) => sendFile(request, response, index(''), PAGE_HEADERS));
  router.get('/guides/:name', async (request, response, next) => {
    const file = pages(request.params.name);
    if (!file) return next();
    await sendFile(request, response, file, PAGE_HEADERS);
  });
  return router;
}
