import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';

export const listDeveloperSessions: Handler<'listDeveloperSessions'> = async (
  { query, actor },
  { developers },
) => {
  const page = await developers.listSessions(actor, { limit: query.limit, cursor: query.cursor });
  return toPage(page, (session) => ({
    developer_session_id: session.developerSessionId,
    kind: session.kind,
    is_current: session.isCurrent,
    address: session.address,
    user_agent: session.userAgent,
    created_at: session.createdAt.toISOString(),
    expiry: session.expiresAt.toISOString(),
    last_used_at: session.lastUsedAt?.toISOString() ?? null,
  }));
};
