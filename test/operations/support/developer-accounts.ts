import type { components } from '../../../generated/types.ts';
import type { Api } from '../../support/api.ts';
import { ADMINISTRATOR } from '../../support/billing.ts';

type Account = components['schemas']['DeveloperAccountResult'];

const pathOf = (developerId: string) => `/api/v2/admin/developers/${developerId}`;

export const accountOf = (api: Api, developerId: string) =>
  api.call<Account>('GET', pathOf(developerId), undefined, ADMINISTRATOR);

export const suspend = (api: Api, developerId: string, body?: object) =>
  api.call<Account>('POST', `${pathOf(developerId)}/suspend`, body, ADMINISTRATOR);

export const reinstate = (api: Api, developerId: string) =>
  api.call<Account>('POST', `${pathOf(developerId)}/reinstate`, undefined, ADMINISTRATOR);
