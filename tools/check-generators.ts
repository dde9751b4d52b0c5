import {
  type Contract,
  type Operation,
  type Ref,
  type Response,
  type Schema,
  operationsOf,
  resolve,
} from './generate/document.ts';

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}
interface Request extends Operation {
  readonly parameters?: readonly Ref<{ name: string; schema: Schema }>[];
  readonly requestBody?: Ref<Body>;
  readonly security?: readonly object[];
  readonly 'x-bearer-token'?: string;
}
type Components = Readonly<Record<string, Readonly<Record<string, Schema>>>>;

const TOKENS = ['session', 'developer', 'reseller', 'agent', 'administrator'];
const SUFFIXES = { parameters: 'Parameter', headers: 'Header' };
/** Formats that many generators turn into a type of its own, which has no pattern and no length (ogen). */
const TYPED_FORMATS = ['date', 'date-time', 'uri'];
const CHOICE = 'x-exactly-one-of';
const UNIONS = ['oneOf', 'anyOf', 'not', 'discriminator'];

/** What client generators refuse, or make bad clients of. The comments name the generators. */
export function generatorFaults(contract: Contract): string[] {
  const operations = operationsOf(contract) as Request[];
  return [
    ...operations.flatMap((operation) => ofOperation(contract, operation)),
    ...ofComponents(contract),
    ...ofNames(contract),
    ...misplacedChoices(contract, operations),
    ...sharedValues(contract),
    ...membersOfEnums(contract),
    ...differentHeaders(operations),
    ...differentOrder(contract, operations),
  ];
}

function ofOperation(contract: Contract, operation: Request): string[] {
  const { operationId, requestBody, responses, security = [], 'x-bearer-token': token = '' } = operation;
  const found: string[] = [];
  // One bearer scheme: clients of several generators require a token for each.
  const takesToken = security.some((way) => 'BearerToken' in way);
  if (takesToken !== TOKENS.includes(token)) {
    found.push(`${operationId}: x-bearer-token names the token of the scheme BearerToken`);
  }
  // progenitor, openapi-python-client: one media type of a request.
  const types = Object.keys(requestBody ? (resolve(contract, requestBody).content ?? {}) : {});
  if (types.length > 1) found.push(`${operationId}: the request has several media types`);
  if (types[0] && !['application/json', 'application/octet-stream'].includes(types[0])) {
    found.push(`${operationId}: the request is neither application/json nor application/octet-stream`);
  }
  // progenitor: one kind of success.
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const kinds = successes.map(([, response]) =>
    JSON.stringify(resolve(contract, response).content ?? null, withoutExamples),
  );
  if (new Set(kinds).size > 1) found.push(`${operationId}: has several kinds of success`);
  for (const [status, response] of successes) {
    const content = Object.entries(resolve<Response>(contract, response).content ?? {});
    if (content.length > 1) found.push(`${operationId} ${status}: has several media types`);
    // openapi-generator's Rust clients refuse text other than text/plain.
    for (const [type, { schema }] of content) {
      if (type !== 'application/json' && schema?.['format'] !== 'binary') {
        found.push(`${operationId} ${status}: ${type} needs the format binary`);
      }
    }
  }
  return found;
}

/** A replacer for JSON.stringify. */
function withoutExamples(key: string, value: unknown): unknown {
  return key === 'example' || key === 'examples' ? undefined : value;
}

function ofComponents(contract: Contract): string[] {
  const found: string[] = [];
  const { schemas = {}, parameters = {} } = contract.components as Components;
  const operations = operationsOf(contract) as Request[];
  const sent = reachable(
    contract,
    operations.map(({ responses }) => responses),
  );

  function visit(schema: Schema, path: string, isOpen: boolean, isNamed: boolean): void {
    const { $ref, properties, items, allOf = [], type, format } = schema as Parts;
    if ($ref !== undefined) return;
    for (const union of UNIONS) if (union in schema) found.push(`${path}: has ${union}`);
    // Go and Java clients of openapi-generator refuse unknown members unless the schema says so.
    const { additionalProperties } = schema;
    if ((properties || allOf.length > 0) && isOpen !== (additionalProperties === true)) {
      found.push(`${path}: ${isOpen ? 'lacks' : 'has'} additionalProperties: true`);
    }
    // A class without a name gets one that no one recognizes.
    if (!isNamed && properties) found.push(`${path}: is not a schema with a name`);
    // float32 has 24 bits: Go clients lose cents.
    if (type === 'number' && format !== 'double') found.push(`${path}: needs the format double`);
    if (TYPED_FORMATS.includes(format ?? '') && isLimited(schema)) {
      found.push(`${path}: has a pattern or a length besides its format: use x-pattern or x-format`);
    }
    for (const [name, each] of Object.entries(properties ?? {}))
      visit(each, `${path}.${name}`, isOpen, false);
    if (items) visit(items, `${path}[]`, isOpen, false);
    // The parts of a schema with a name have its name.
    for (const part of allOf) visit(part, path, isOpen, isNamed);
  }

  for (const [name, schema] of Object.entries(schemas)) visit(schema, name, sent.has(name), true);
  const all = [...Object.values(parameters), ...operations.flatMap(({ parameters: own = [] }) => own)];
  for (const parameter of all as Ref<{ name: string; schema: Schema }>[]) {
    const { name, schema } = resolve<{ name: string; schema: Schema }>(contract, parameter);
    visit(schema, `parameter ${name}`, false, false);
    // progenitor makes a type for each operation of an inline schema with constraints.
    const { type, format, enum: values = [] } = schema as Parts;
    if (type === 'string' && format === undefined && (isLimited(schema) || values.length > 1)) {
      found.push(`parameter ${name}: its schema has no name`);
    }
  }
  return [...new Set(found)];
}

interface Parts {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
}

/** Whether a schema limits its text. */
function isLimited(schema: Schema): boolean {
  return ['pattern', 'minLength', 'maxLength'].some((keyword) => keyword in schema);
}

/** The names of the schemas that some nodes refer to, directly or not. */
function reachable(contract: Contract, roots: readonly unknown[]): ReadonlySet<string> {
  const names = new Set<string>();
  function visit(node: unknown): void {
    if (typeof node !== 'object' || node === null) return;
    const { $ref } = node as { $ref?: string };
    if ($ref === undefined) return Object.values(node).forEach(visit);
    const [, name] = /\/schemas\/(\w+)$/.exec($ref) ?? [];
    if (name !== undefined && names.has(name)) return;
    if (name !== undefined) names.add(name);
    visit(resolve(contract, node as Ref<object>));
  }
  roots.forEach(visit);
  return names;
}

/** oapi-codegen and ogen declare components of all kinds in one package. */
function ofNames(contract: Contract): string[] {
  const found: string[] = [];
  const components = contract.components as Components;
  const schemes = Object.keys(components['securitySchemes'] ?? {});
  if (schemes.join() !== 'BearerToken') found.push(`securitySchemes: has more than BearerToken`);
  for (const [kind, suffix] of Object.entries(SUFFIXES)) {
    for (const name of Object.keys(components[kind] ?? {})) {
      if (!name.endsWith(suffix)) found.push(`${kind}/${name}: its name does not end in ${suffix}`);
    }
  }
  const schemas = Object.keys(components['schemas'] ?? {});
  for (const name of schemas) {
    if (/(?:Parameter|Header)$/.test(name)) found.push(`schemas/${name}: has the suffix of another kind`);
    for (const kind of ['securitySchemes', 'responses']) {
      if (name in (components[kind] ?? {})) found.push(`schemas/${name}: is in ${kind}, too`);
    }
    // Go: NewLicense() is the constructor of License.
    const made = /^New(\w+)$/.exec(name)?.[1];
    const { properties } = components['schemas']![name] as Parts;
    if (made !== undefined && properties && schemas.includes(made)) {
      found.push(`schemas/${name}: is the constructor of ${made}`);
    }
  }
  return found;
}

/** The service looks for `x-exactly-one-of` only in the members and items of JSON requests. */
function misplacedChoices(contract: Contract, operations: readonly Request[]): string[] {
  const enforced = new Set<Schema>();
  const found: string[] = [];
  function visit(node: Schema): void {
    const schema = resolve<Schema>(contract, node as Ref<Schema>);
    const { properties = {}, items } = schema as Parts;
    const choice = schema[CHOICE] as readonly string[] | undefined;
    if (choice && !enforced.has(schema)) {
      const unknown = choice.filter((name) => !(name in properties));
      if (unknown.length > 0) found.push(`${CHOICE}: there is no member ${unknown.join(', ')}`);
    }
    if (choice) enforced.add(schema);
    [...Object.values(properties), ...(items ? [items] : [])].forEach(visit);
  }
  for (const { requestBody } of operations) {
    const schema = requestBody && resolve(contract, requestBody).content?.['application/json']?.schema;
    if (schema) visit(schema);
  }
  function count(node: unknown): number {
    if (typeof node !== 'object' || node === null) return 0;
    return Object.values(node).reduce<number>((sum, each) => sum + count(each), CHOICE in node ? 1 : 0);
  }
  if (count(contract) !== enforced.size) found.push(`${CHOICE}: is where the service does not look for it`);
  return found;
}

/** openapi-generator's Go clients have a constant for each value of an enum with a name, without the name. */
function sharedValues(contract: Contract): string[] {
  const owners = new Map<string, string>();
  const { schemas = {} } = contract.components as Components;
  return Object.entries(schemas).flatMap(([name, schema]) => {
    const { enum: values = [] } = schema as Parts;
    if (values.length < 2) return [];
    return values.flatMap((value) => {
      const constant = String(value)
        .toUpperCase()
        .replaceAll(/[^A-Z0-9]+/g, '_');
      const owner = owners.get(constant) ?? name;
      owners.set(constant, owner);
      return owner === name
        ? []
        : [`${name}: shares ${String(value)} with ${owner}: write it without a name`];
    });
  });
}

/** Every enum of Kotlin has these members, and openapi-generator does not rename a value. */
const MEMBERS_OF_ENUMS: readonly unknown[] = ['name', 'ordinal', 'values', 'entries'];

/** Values of enums in bodies that would be members of an enum in Kotlin. */
function membersOfEnums(contract: Contract): string[] {
  const found: string[] = [];
  function visit(node: unknown, path: string): void {
    if (typeof node !== 'object' || node === null) return;
    const { enum: values } = node as Parts;
    if (Array.isArray(values)) {
      for (const value of values.filter((each) => MEMBERS_OF_ENUMS.includes(each)))
        found.push(`${path}: the value ${String(value)} is a member of every enum`);
    }
    for (const [key, child] of Object.entries(node)) if (key !== 'example') visit(child, `${path}/${key}`);
  }
  visit((contract.components as Components).schemas ?? {}, 'schemas');
  return found;
}

/** ogen names the type of a response with headers after its schema. */
function differentHeaders(operations: readonly Request[]): string[] {
  const found: string[] = [];
  const known = new Map<string, string>();
  for (const { operationId, responses } of operations) {
    for (const response of Object.values(responses)) {
      if ('$ref' in response) continue;
      const { headers = {}, content = {} } = response;
      const name = (Object.values(content)[0]?.schema as { $ref?: string } | undefined)?.$ref
        ?.split('/')
        .at(-1);
      if (name === undefined) continue;
      const names = Object.keys(headers).sort().join(', ');
      if ((known.get(name) ?? names) !== names) {
        found.push(`${operationId}: another response with ${name} has other headers`);
      }
      known.set(name, known.get(name) ?? names);
    }
  }
  return found;
}

/** Positional constructors follow the order of the members, so that of v1 and v2 is the same. */
function differentOrder(contract: Contract, operations: readonly Request[]): string[] {
  return operations.flatMap((second) => {
    const first = operations.find(({ operationId }) => `${operationId}V2` === second.operationId);
    if (!first) return [];
    const [before, after] = [first, second].map((operation) => membersOf(contract, operation));
    const common = (members: readonly string[], others: readonly string[]) =>
      members.filter((name) => others.includes(name)).join(', ');
    return common(before!, after!) === common(after!, before!)
      ? []
      : [`${second.operationId}: its members have another order than those of ${first.operationId}`];
  });
}

function membersOf(contract: Contract, { requestBody }: Request): readonly string[] {
  const { content = {} } = requestBody ? resolve<Body>(contract, requestBody) : {};
  const { schema = {} } = content['application/json'] ?? {};
  const { properties = {}, required = [] } = resolve(contract, schema as Ref<Schema>) as Parts & {
    required?: readonly string[];
  };
  return [...required, ...Object.keys(properties).filter((name) => !required.includes(name))];
}
