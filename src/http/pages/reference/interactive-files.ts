import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { toStaticFile, type StaticFile } from '../static-file.ts';
import origin from '../../../../vendor/scalar/origin.json' with { type: 'json' };

const BUILT = new URL('../../../../generated/reference/', import.meta.url);
const VENDORED = new URL('../../../../vendor/scalar/standalone.js.br', import.meta.url);

const SCRIPT = 'text/javascript; charset=utf-8';

/** The name of the bundle, which its version makes unique. */
export const BUNDLE = `scalar-${origin.version}.js`;

/** The bundle of Scalar, which is compressed on disk. */
export function readBundle(): StaticFile {
  const compressed = readFileSync(VENDORED);
  return toStaticFile(brotliDecompressSync(compressed), SCRIPT, new Map([['br', compressed]]));
}

/** Our own script and style for it, by the names under which they are served. */
export function readOwnFiles(): {
  readonly script: string;
  readonly style: string;
  readonly files: ReadonlyMap<string, StaticFile>;
} {
  const [script, style] = [
    ['start', 'js', SCRIPT],
    ['style', 'css', 'text/css; charset=utf-8'],
  ].map(([name, kind, mediaType]) => {
    const file = toStaticFile(readFileSync(new URL(`${name}.${kind}`, BUILT)), mediaType!);
    return [`${name}-${file.tag.slice(1, 9)}.${kind}`, file] as const;
  });
  return { script: script![0], style: style![0], files: new Map([script!, style!]) };
}
