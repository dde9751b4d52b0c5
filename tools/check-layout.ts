import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** One file of the contract, as it is written: references lead into other files, too. */
interface ContractFile {
  readonly tags?: readonly { readonly name: string; readonly 'x-traitTag'?: boolean }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The root of the contract and the files that it pulls in, by their paths. */
export interface ContractFiles {
  readonly root: ContractFile;
  readonly files: Readonly<Record<string, ContractFile>>;
}

const ROOT = 'openapi.yaml';

/** Reads `openapi.yaml` and `openapi/*.yaml` below a folder. */
export function readContractFiles(folder: string): ContractFiles {
  const read = (file: string) => parse(readFileSync(join(folder, file), 'utf8')) as ContractFile;
  const files = globSync('openapi/*.yaml', { cwd: folder }).map((file) => file.replaceAll('\\', '/'));
  return { root: read(ROOT), files: Object.fromEntries(files.sort().map((file) => [file, read(file)])) };
}

/**
 * What is not in the file where people look for it: operations of a tag are in `openapi/<tag>.yaml`, and so are the
 * components that only this tag uses. Components that several tags use are in the root, which lists every path.
 */
export function misplaced({ root, files }: ContractFiles): string[] {
  const found: string[] = [];
  const fileOf = (tag: string) => `openapi/${tag.toLowerCase()}.yaml`;

  // Trait tags have no operations: they describe what holds for all of them.
  const ofOperations = (root.tags ?? []).filter((tag) => tag['x-traitTag'] !== true);
  const wanted = new Set(ofOperations.map(({ name }) => fileOf(name)));
  for (const file of wanted) if (!files[file]) found.push(`${file} is missing`);
  for (const file of Object.keys(files)) if (!wanted.has(file)) found.push(`${file} belongs to no tag`);

  const listed = new Map(Object.entries(root.paths).map(([path, item]) => [path, item['$ref']]));
  for (const [file, { paths }] of Object.entries(files)) {
    for (const [path, item] of Object.entries(paths)) {
      const $ref = `${file}#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (listed.get(path) !== $ref) found.push(`${ROOT} lacks ${path}: { $ref: '${$ref}' }`);
      else listed.delete(path);
      for (const { operationId, tags = [] } of Object.values(item) as Operation[]) {
        for (const tag of tags) {
          if (fileOf(tag) !== file) found.push(`${operationId} is in ${file}, and not in ${fileOf(tag)}`);
        }
      }
    }
  }
  for (const path of listed.keys()) found.push(`${path} of ${ROOT} is not in the file of a tag`);

  return [...found, ...misplacedComponents({ root, files })];
}

interface Operation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
}

/** Components by their place in the bundle, such as `schemas/License`: names are unique over all files. */
function misplacedComponents({ root, files }: ContractFiles): string[] {
  const found: string[] = [];
  const components = new Map<string, { file: string; definition: unknown }>();
  for (const [file, { components: kinds = {} }] of Object.entries({ [ROOT]: root, ...files })) {
    for (const [kind, definitions] of Object.entries(kinds)) {
      if (kind === 'securitySchemes') continue;
      for (const [name, definition] of Object.entries(definitions)) {
        const twin = components.get(`${kind}/${name}`);
        if (twin) found.push(`${kind}/${name} is in ${twin.file} and in ${file}`);
        else components.set(`${kind}/${name}`, { file, definition });
      }
    }
  }

  const users = new Map<string, Set<string>>();
  const use = (node: unknown, file: string) => {
    for (const component of referencesIn(node)) {
      const known = users.get(component) ?? new Set();
      if (known.has(file)) continue;
      users.set(component, known.add(file));
      use(components.get(component)?.definition, file);
    }
  };
  for (const [file, { paths }] of Object.entries(files)) use(paths, file);

  for (const [component, { file }] of components) {
    const [user, ...others] = users.get(component) ?? [];
    if (!user) found.push(`${component} in ${file} is not used`);
    else if (others.length === 0 && file !== user)
      found.push(`${component} is in ${file}, and not in ${user}`);
    else if (others.length > 0 && file !== ROOT) found.push(`${component} is in ${file}, and not in ${ROOT}`);
  }
  return found;
}

/** The components that a node refers to, directly. */
function referencesIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' ? [String(value).replace(/^.*#\/components\//, '')] : referencesIn(value),
  );
}
