import { setScheme } from '../design/scheme.ts';
import type { ConsoleKind } from './consoles.ts';
import { DOCUMENTS, openDocument } from './documents.ts';
import type { Command } from './frame.ts';
import { leave } from './leave.ts';
import { SCHEMES } from './schemes.ts';

/** What every palette can do besides opening pages. */
export const commonCommands = (kind: ConsoleKind, onCurl: () => void): readonly Command[] => [
  ...DOCUMENTS.map(({ path, label }) => ({
    id: path,
    label,
    icon: 'file' as const,
    group: 'Documentation',
    run: () => openDocument(path),
  })),
  { id: 'curl', label: 'Show as curl', icon: 'code', group: 'Action', run: onCurl },
  ...SCHEMES.map(([scheme, label]) => ({
    id: `colors-${scheme}`,
    label: `Colors: ${label.toLocaleLowerCase()}`,
    icon: 'screen' as const,
    group: 'Theme',
    run: () => setScheme(scheme),
  })),
  { id: 'sign-out', label: 'Sign out', icon: 'right', group: 'Action', run: () => void leave(kind) },
];
