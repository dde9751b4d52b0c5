import { parseArgs } from 'node:util';
import { readContract } from './generate/bundle.ts';
import { caseFolding } from './generate/case-folding.ts';
import { dashboard } from './generate/dashboard.ts';
import type { Contract } from './generate/document.ts';
import { lookalikes } from './generate/lookalikes.ts';
import { nameCharacters } from './generate/name-characters.ts';
import { type GeneratedFile, difference, write } from './generate/output.ts';
import { pageStyle } from './generate/page-style.ts';
import { reference } from './generate/reference.ts';
import { requestValidatorTypes, requestValidators } from './generate/request-validators.ts';
import { types } from './generate/types.ts';

/** One generated file. The content depends on nothing but the contract and the installed packages. */
export interface Writer {
  file: string;
  write: (contract: Contract) => string | Promise<string>;
}

/** What is generated from the contract. */
export const writers: readonly Writer[] = [
  { file: 'openapi.json', write: (contract) => `${JSON.stringify(contract, null, 2)}\n` },
  { file: 'types.ts', write: types },
  { file: 'request-validators.js', write: requestValidators },
  { file: 'request-validators.d.ts', write: requestValidatorTypes },
  { file: 'case-folding.ts', write: caseFolding },
  { file: 'name-characters.ts', write: nameCharacters },
  { file: 'lookalikes.ts', write: lookalikes },
];

/** Generates all files of a contract in memory. */
export async function generate(contract: Contract): Promise<GeneratedFile[]> {
  return Promise.all(
    writers.map(async (writer) => ({ file: writer.file, content: await writer.write(contract) })),
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      contract: { type: 'string', default: 'openapi.yaml' },
      output: { type: 'string', default: 'generated' },
    },
  });
  // Everything below `generated/`. What is not in this list is stale and goes.
  const files = [
    ...(await generate(await readContract(values.contract))),
    ...(await dashboard()),
    ...(await reference()),
    { file: 'pages.css', content: pageStyle() },
  ];
  const { changed, stale } = values.check ? difference(values.output, files) : write(values.output, files);
  for (const file of changed) console.log(`${values.check ? 'differs' : 'wrote'} ${values.output}/${file}`);
  for (const file of stale) console.log(`${values.check ? 'stale' : 'removed'} ${values.output}/${file}`);
  if (values.check) {
    if (changed.length + stale.length > 0) process.exitCode = 1;
    return;
  }
  for (const { file, content } of files) {
    console.log(`${(Buffer.byteLength(content) / 1024).toFixed(0).padStart(6)} kB  ${file}`);
  }
}

if (import.meta.main) await main();
