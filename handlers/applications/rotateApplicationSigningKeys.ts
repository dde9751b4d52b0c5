import type { Handler } from '../handler.ts';
import { toSigningKeys } from './signing-key.ts';

export const rotateApplicationSigningKeys: Handler<'rotateApplicationSigningKeys'> = async (
  { path, body, actor },
  { applications },
) => toSigningKeys(await applications.rotateSigningKeys(actor, path.app_id, body.force ?? false));
