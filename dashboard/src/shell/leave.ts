import { DASHBOARD } from '../api/base.ts';
import { asProblem } from '../api/problem.ts';
import { signOut } from '../api/session.ts';
import { toast } from '../components/toast.tsx';
import { type ConsoleKind, CONSOLES } from './consoles.ts';

/** Signs out. A new document holds nothing of the account. */
export async function leave(kind: ConsoleKind): Promise<void> {
  try {
    await signOut();
  } catch (error) {
    // The menu that it was chosen from is closed.
    return toast(`You are still signed in. ${asProblem(error).message}`);
  }
  location.assign(DASHBOARD + CONSOLES[kind].signIn);
}
