import { resolve } from 'node:path';
import type { GeneratedFile } from './output.ts';
import { buildFor } from './vite.ts';

const ENTRY = resolve(import.meta.dirname, '../../dashboard/src/reference/start.ts');

/** The script and the style of the interactive API reference. */
export const reference = (): Promise<GeneratedFile[]> =>
  buildFor('reference', {
    configFile: false,
    build: {
      target: ['chrome130', 'firefox130', 'safari18'],
      reportCompressedSize: false,
      lib: {
        entry: ENTRY,
        formats: ['iife'],
        name: 'reference',
        fileName: () => 'start.js',
        cssFileName: 'style',
      },
    },
  });
