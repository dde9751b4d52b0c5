import { join } from 'node:path';
import { CONTRACT, demand } from './programs.ts';

const VERSION = '7.25.0';

/** It says so about every contract that it was tried with. */
const OF_ITS_OWN = 'ModelUtils - Failed to get the schema name: null';

/**
 * Generates a client with openapi-generator's default options.
 * @param generator its name, such as `rust`
 * @param folder an empty folder, in which `client` becomes the client
 * @returns what it warned of, except for what is the generator's own
 */
export async function generateClient(generator: string, folder: string): Promise<readonly string[]> {
  const artifact = `org.openapitools:openapi-generator-cli:${VERSION}`;
  const copy = ['-q', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`];
  await demand({ program: 'mvn', args: copy });
  const jar = join(folder, `openapi-generator-cli-${VERSION}.jar`);
  const generate = ['generate', '-g', generator, '-i', CONTRACT, '-o', join(folder, 'client')];
  const { stdout, stderr } = await demand({ program: 'java', args: ['-jar', jar, ...generate] });
  const warnings = `${stdout}${stderr}`.matchAll(/^\[main\] (?:WARN|ERROR) +(?:\S+\.)?(.*)$/gm);
  return [...new Set(warnings.map(([, warning]) => warning!))].filter((warning) => warning !== OF_ITS_OWN);
}
