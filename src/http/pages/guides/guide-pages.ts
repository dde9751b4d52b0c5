import { Router } from 'express';
import { PAGE_HEADERS, rootPath } from '../html.ts';
import { guideIndexPage, guidePage, type GuideAddresses } from './guide-html.ts';
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

  router.get('/guides', (_request, response) => {
    response.set(PAGE_HEADERS).type('html').send(guideIndexPage(guides, addresses()));
  });
  router.get('/guides/:name', (request, response, next) => {
    const guide = guides.find(({ name }) => name === request.params.name);
    if (!guide) return next();
    response
      .set(PAGE_HEADERS)
      .type('html')
      .send(guidePage(guide, guides, addresses()));
  });
  return router;
}
