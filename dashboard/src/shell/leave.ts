import { DASHBOARD } from '../api/base.ts';
import { signOut } from '../api/session.ts';
import { type ConsoleKind, CONSOLES } from './consoles.ts';

/** Signs out. A new document holds nothing of the account. */
export async function leave(kind: ConsoleKind): Promise<void> {
  await signOut();
  location.assign(DASHBOARD + CONSOLES[kind].signIn);
}
