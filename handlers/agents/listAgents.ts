import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toAgent } from './agent.ts';

export const listAgents: Handler<'listAgents'> = async ({ query, actor }, { agents }) =>
  toPage(await agents.list(actor.developerId, { limit: query.limit, cursor: query.cursor }), toAgent);
