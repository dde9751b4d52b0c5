import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { call } from '../api/client.ts';
import { PAGE_SIZE } from '../api/pages.ts';
import type { Command } from './frame.ts';

const FIRST_PAGE = { query: { limit: PAGE_SIZE }, background: true };

/**
 * The resellers of the account, and the webhooks, variables and files of an application: the first page of each list,
 * so that the palette costs four requests however much there is.
 * @param isWanted whether there is a text that could find them
 */
export function useNamed(appId: string | undefined, group: string, isWanted: boolean): readonly Command[] {
  const navigate = useNavigate();
  const path = { app_id: appId ?? '' };
  const ofApplication = { enabled: isWanted && appId !== undefined, retry: false };
  const resellers = useQuery({
    queryKey: ['resellers', 'named'],
    queryFn: ({ signal }) => call('GET /api/v2/dev/resellers', { ...FIRST_PAGE, signal }),
    enabled: isWanted,
    retry: false,
  });
  const webhooks = useQuery({
    queryKey: ['application', appId, 'webhooks', 'named'],
    queryFn: ({ signal }) => call('GET /api/v2/dev/apps/{app_id}/webhooks', { ...FIRST_PAGE, path, signal }),
    ...ofApplication,
  });
  const variables = useQuery({
    queryKey: ['application', appId, 'variables', 'list', 'named'],
    queryFn: ({ signal }) => call('GET /api/v2/dev/apps/{app_id}/variables', { ...FIRST_PAGE, path, signal }),
    ...ofApplication,
  });
  const files = useQuery({
    queryKey: ['application', appId, 'files', 'list', 'named'],
    queryFn: ({ signal }) => call('GET /api/v2/dev/apps/{app_id}/files', { ...FIRST_PAGE, path, signal }),
    ...ofApplication,
  });
  if (!isWanted) return [];
  const found: readonly Command[] = (resellers.data?.data ?? []).map(({ reseller_id: resellerId, name }) => ({
    id: resellerId,
    label: name,
    icon: 'store',
    group: 'Reseller',
    run: () => void navigate({ to: '/resellers/$resellerId', params: { resellerId } }),
  }));
  if (appId === undefined) return found;
  return [
    ...found,
    ...(webhooks.data?.data ?? []).map(({ webhook_id: webhookId, url, description }): Command => ({
      id: webhookId,
      label: description || url,
      icon: 'webhook',
      group: `Webhook of ${group}`,
      run: () => void navigate({ to: '/apps/$appId/webhooks/$webhookId', params: { appId, webhookId } }),
    })),
    ...(variables.data?.data ?? []).map(({ name }): Command => ({
      id: `variable-${name}`,
      label: name,
      icon: 'braces',
      group: `Variable of ${group}`,
      run: () =>
        void navigate({ to: '/apps/$appId/variables', params: { appId }, search: { variable: name } }),
    })),
    ...(files.data?.data ?? []).map(({ name }): Command => ({
      id: `file-${name}`,
      label: name,
      icon: 'file',
      group: `File of ${group}`,
      run: () => void navigate({ to: '/apps/$appId/files', params: { appId }, search: { file: name } }),
    })),
  ];
}
