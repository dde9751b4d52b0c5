import { unbounded } from './check-bounds.ts';
import { puzzlingNames } from './check-component-names.ts';
import { generatorFaults } from './check-generators.ts';
import { misplaced, readContractFiles } from './check-layout.ts';
import { faultyMarks } from './check-marks.ts';
import { unmarkedNames } from './check-names.ts';
import { unmarkedSecrets } from './check-secrets.ts';
import { readContract } from './generate/bundle.ts';

const contract = await readContract('openapi.yaml');
const faults = [
  ...misplaced(readContractFiles('.')).map((fault) => `layout: ${fault}`),
  ...puzzlingNames(contract).map((fault) => `component: ${fault}`),
  ...generatorFaults(contract).map((fault) => `generators: ${fault}`),
  ...unmarkedSecrets(contract).map((path) => `secret without x-redact: ${path}`),
  ...faultyMarks(contract).map((fault) => `mark: ${fault}`),
  ...unbounded(contract).map((fault) => `bound: ${fault}`),
  ...unmarkedNames(contract).map((fault) => `name: ${fault}`),
];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
