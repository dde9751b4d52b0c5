import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const FOLDER = new URL('../vendor/scalar/', import.meta.url);
const PACKAGE = '@scalar/api-reference';
const BUNDLE = 'package/dist/browser/standalone.js';

/** Where the bundle of the API reference is from. */
interface Origin {
  readonly package: string;
  readonly version: string;
  /** The digest of the package, as the registry names it. */
  readonly integrity: string;
  /** The SHA-256 of the bundle. */
  readonly sha256: string;
}

/**
 * Fetches the bundle of a version from the registry. As a dependency, it would bring 270 packages and 290 MB into every
 * installation, for one file that contains all of them.
 */
function main(version: string | undefined): void {
  const present = JSON.parse(readFileSync(new URL('origin.json', FOLDER), 'utf8')) as Origin;
  const wanted = version ?? present.version;
  const folder = mkdtempSync(join(tmpdir(), 'scalar-'));
  try {
    const packed = execFileSync('npm', ['pack', `${PACKAGE}@${wanted}`, '--json'], { cwd: folder });
    const [{ filename, integrity }] = JSON.parse(packed.toString()) as [
      { filename: string; integrity: string },
    ];
    if (wanted === present.version && integrity !== present.integrity) {
      throw new Error(`The registry has another package as ${PACKAGE}@${wanted} than before.`);
    }
    execFileSync('tar', ['xzf', filename, BUNDLE], { cwd: folder });
    const bundle = readFileSync(join(folder, BUNDLE));
    const sha256 = createHash('sha256').update(bundle).digest('hex');
    const origin: Origin = { package: PACKAGE, version: wanted, integrity, sha256 };
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bundle.length };
    writeFileSync(new URL('standalone.js.br', FOLDER), brotliCompressSync(bundle, { params }));
    writeFileSync(new URL('origin.json', FOLDER), `${JSON.stringify(origin, undefined, 2)}\n`);
    console.log(`${PACKAGE}@${wanted}: ${(bundle.length / 1024).toFixed(0)} kB`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

main(process.argv[2]);
