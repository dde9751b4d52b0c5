import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { useChanged } from '../../api/changed.ts';
import { call, type Schemas } from '../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../api/pages.ts';

export type ApiToken = Schemas['ApiToken'];
export type OAuthClient = Schemas['OAuthClient'];
export type Authorization = Schemas['Authorization'];
export type Agent = Schemas['Agent'];
export type Receiver = Schemas['SecurityEventReceiver'];
export type DeveloperSession = Schemas['DeveloperSession'];

const KEY = ['access'];

const pageOf = (cursor: string | undefined) => ({ limit: PAGE_SIZE, ...(cursor && { cursor }) });

/** Reads everything that has access again after a change. */
export const useAccessChanged = () => useChanged(KEY);

export const useTokens = () =>
  useCursorList([...KEY, 'tokens'], (cursor, signal) =>
    call('GET /api/v2/dev/tokens', { query: pageOf(cursor), signal }),
  );

export const createToken = (body: Schemas['CreateApiTokenRequest']) =>
  call('POST /api/v2/dev/tokens', { body, once: true });

export const deleteToken = (tokenId: string) =>
  call('DELETE /api/v2/dev/tokens/{token_id}', { path: { token_id: tokenId } });

export const useClients = () =>
  useCursorList([...KEY, 'clients'], (cursor, signal) =>
    call('GET /api/v2/dev/oauth-clients', { query: pageOf(cursor), signal }),
  );

export const clientQuery = (clientId: string) =>
  queryOptions({
    queryKey: [...KEY, 'client', clientId],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/oauth-clients/{client_id}', { path: { client_id: clientId }, signal }),
  });

/** Reads what a deleted client was part of again, but not the client itself, which is still open for a moment. */
export function useClientDeleted(): (clientId: string) => Promise<void> {
  const client = useQueryClient();
  return (clientId) => {
    const own = clientQuery(clientId).queryKey;
    return client.invalidateQueries({ queryKey: KEY, predicate: ({ queryKey }) => queryKey[2] !== own[2] });
  };
}

export const createClient = (body: Schemas['CreateOAuthClientRequest']) =>
  call('POST /api/v2/dev/oauth-clients', { body, once: true });

/** The changes of one client. */
export function clientActions(clientId: string) {
  const path = { client_id: clientId };
  return {
    update: (body: Schemas['UpdateOAuthClientRequest']) =>
      call('PATCH /api/v2/dev/oauth-clients/{client_id}', { path, body }),
    rotateSecret: () => call('POST /api/v2/dev/oauth-clients/{client_id}/secret', { path, once: true }),
    delete: () => call('DELETE /api/v2/dev/oauth-clients/{client_id}', { path }),
  };
}

export const useAuthorizations = () =>
  useCursorList([...KEY, 'authorizations'], (cursor, signal) =>
    call('GET /api/v2/dev/authorizations', { query: pageOf(cursor), signal }),
  );

export const revokeAuthorization = (authorizationId: string) =>
  call('DELETE /api/v2/dev/authorizations/{authorization_id}', {
    path: { authorization_id: authorizationId },
  });

export const useAgents = () =>
  useCursorList([...KEY, 'agents'], (cursor, signal) =>
    call('GET /api/v2/dev/agents', { query: pageOf(cursor), signal }),
  );

export const agentQuery = (agentId: string) =>
  queryOptions({
    queryKey: [...KEY, 'agent', agentId],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/agents/{agent_id}', { path: { agent_id: agentId }, signal }),
  });

export const createAgent = (body: Schemas['CreateAgentRequest']) =>
  call('POST /api/v2/dev/agents', { body, once: true });

export const revokeAgent = (agentId: string) =>
  call('DELETE /api/v2/dev/agents/{agent_id}', { path: { agent_id: agentId } });

export const revokeAllAgents = () => call('DELETE /api/v2/dev/agents');

export const useReceivers = () =>
  useCursorList([...KEY, 'receivers'], (cursor, signal) =>
    call('GET /api/v2/dev/security-event-receivers', { query: pageOf(cursor), signal }),
  );

export const createReceiver = (body: Schemas['CreateSecurityEventReceiverRequest']) =>
  call('POST /api/v2/dev/security-event-receivers', { body, once: true });

export const deleteReceiver = (receiverId: string) =>
  call('DELETE /api/v2/dev/security-event-receivers/{receiver_id}', { path: { receiver_id: receiverId } });

export const useSessions = () =>
  useCursorList([...KEY, 'sessions'], (cursor, signal) =>
    call('GET /api/v2/dev/sessions', { query: pageOf(cursor), signal }),
  );

export const endSession = (sessionId: string) =>
  call('DELETE /api/v2/dev/sessions/{developer_session_id}', { path: { developer_session_id: sessionId } });

export const endOtherSessions = () => call('DELETE /api/v2/dev/sessions');

export const changePassword = (body: Schemas['ChangeDeveloperPasswordRequest']) =>
  call('PUT /api/v2/dev/password', { body });
