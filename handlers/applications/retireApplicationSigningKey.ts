import type { Handler } from '../handler.ts';
import { toSigningKeys } from './signing-key.ts';

export const retireApplicationSigningKey: Handler<'retireApplicationSigningKey'> = async (
  { path, actor },
  { applications },
) => toSigningKeys(await applications.retireSigningKey(actor, path.app_id, path.kid));
