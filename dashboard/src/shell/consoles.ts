import type { components } from '../../../generated/types.ts';

/** Whose console it is: each kind of session has one. */
export type ConsoleKind = components['schemas']['BrowserSessionResult']['kind'];

/** Where a console is, and what it is called. */
export const CONSOLES = {
  developer: { home: '/', signIn: '/sign-in', name: 'dashboard', who: 'a developer' },
  reseller: { home: '/reseller', signIn: '/reseller/sign-in', name: 'reseller console', who: 'a reseller' },
  administrator: {
    home: '/admin',
    signIn: '/admin/sign-in',
    name: 'operator console',
    who: 'the administrator',
  },
} as const satisfies Readonly<
  Record<
    ConsoleKind,
    { readonly home: string; readonly signIn: string; readonly name: string; readonly who: string }
  >
>;

/** The console that a path of the dashboard belongs to. */
export function consoleOfPath(path: string): ConsoleKind {
  if (/^\/reseller(\/|$)/.test(path)) return 'reseller';
  if (/^\/admin(\/|$)/.test(path)) return 'administrator';
  return 'developer';
}

/** Stands for the dashboard's own address, which an address from a link must not leave. */
const HERE = 'http://dashboard.invalid';

/** Where to go after a sign-in: the wanted address if it is a page of the same console, else its home. */
export function returnPath(kind: ConsoleKind, wanted: string | undefined): string {
  const { home, signIn } = CONSOLES[kind];
  if (!wanted || !/^\/(?![/\\])/.test(wanted) || !URL.canParse(wanted, HERE)) return home;
  const { origin, pathname, search, hash } = new URL(wanted, HERE);
  if (origin !== HERE || pathname.startsWith('//')) return home;
  return consoleOfPath(pathname) === kind && ![signIn, '/sign-up'].includes(pathname)
    ? pathname + search + hash
    : home;
}
