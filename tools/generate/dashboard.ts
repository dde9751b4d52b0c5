import { resolve } from 'node:path';
import type { GeneratedFile } from './output.ts';
import { buildFor } from './vite.ts';

const CONFIG = resolve(import.meta.dirname, '../../dashboard/vite.config.ts');

/** The built dashboard. Its content depends on nothing but its sources and the installed packages. */
export const dashboard = (): Promise<GeneratedFile[]> => buildFor('dashboard', { configFile: CONFIG });
