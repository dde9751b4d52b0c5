import type { Handler } from '../handler.ts';

export const search: Handler<'search'> = async ({ query, actor }, services) => {
  const { hits, isComplete } = await services.search.find(actor.developerId, query.q, query.limit);
  const data = hits.map(({ kind, id, appId, applicationName, title, detail, match, state, tier }) => {
    return { kind, id, app_id: appId, application_name: applicationName, title, detail, match, state, tier };
  });
  return { status: 200, body: { status: 'success', data, is_complete: isComplete } };
};
