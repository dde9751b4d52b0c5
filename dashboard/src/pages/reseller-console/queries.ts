import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { ownResellerQuery } from '../../shell/queries.ts';

export type OwnReseller = Schemas['OwnResellerResult'];
export type Price = Schemas['ResellerPrice'];

export const useOwnReseller = () => useQuery(ownResellerQuery);

/** Reads everything of the reseller again after a purchase or a return. */
export function useResellerChanged(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ['reseller'] });
}

/** The name of an application that has a price. Without one, only its identifier is known. */
export const applicationName = (reseller: OwnReseller | undefined, appId: string): string =>
  reseller?.prices.find(({ app_id }) => app_id === appId)?.app_name ?? appId;

/** The applications that have a price, each once. */
export function applicationsOf({ prices }: OwnReseller): readonly (readonly [id: string, name: string])[] {
  return [...new Map(prices.map(({ app_id, app_name }) => [app_id, app_name]))];
}
