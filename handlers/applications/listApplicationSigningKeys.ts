import type { Handler } from '../handler.ts';
import { toSigningKeys } from './signing-key.ts';

export const listApplicationSigningKeys: Handler<'listApplicationSigningKeys'> = async (
  { path, actor },
  { applications },
) => toSigningKeys(await applications.signingKeysOf(actor.developerId, path.app_id));
