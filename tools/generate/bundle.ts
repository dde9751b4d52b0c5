import { bundle, createConfig } from '@redocly/openapi-core';
import type { Contract } from './document.ts';

/**
 * Reads the contract and bundles the files that it refers to. YAML aliases are expanded, so no two places share an
 * object.
 * @throws Error for a reference that leads nowhere, and for two components of one name
 */
export async function readContract(file: string): Promise<Contract> {
  const { bundle: document, problems } = await bundle({ ref: file, config: await createConfig({}) });
  if (problems.length > 0) {
    const places = problems.map(
      ({ message, location }) => `${location[0]?.source.absoluteRef}${location[0]?.pointer}: ${message}`,
    );
    throw new Error(`${file} cannot be bundled:\n${places.join('\n')}`);
  }
  return JSON.parse(JSON.stringify(document.parsed)) as Contract;
}
