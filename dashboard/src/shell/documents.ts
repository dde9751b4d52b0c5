import { BASE } from '../api/base.ts';

/** What there is to read about the service, outside of the dashboard. */
export const DOCUMENTS = [
  { path: '/docs', label: 'API reference' },
  { path: '/guides', label: 'Guides' },
  { path: '/errors', label: 'Errors' },
  { path: '/openapi.json', label: 'OpenAPI description' },
] as const;

/** Opens a document in a tab of its own, so that the page and its drafts stay. */
export const openDocument = (path: string): void => {
  window.open(BASE + path, '_blank', 'noreferrer');
};
