import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { SchemaTranslator, type Schema, type Shape } from './schema.ts';

/** The protocol versions that the library supports, newest first. */
export const protocolVersions = async (): Promise<readonly string[]> =>
  (await import('@modelcontextprotocol/sdk/types.js')).SUPPORTED_PROTOCOL_VERSIONS;

/** Where an argument of a tool goes in the request to its operation. */
export type Place = 'path' | 'query' | 'body' | 'key';

/** An operation of the contract that is marked `x-mcp-tool`, as agents call it. */
export interface ContractTool {
  /** As listed to agents. */
  readonly tool: Tool;
  readonly operationId: string;
  /** In upper case. */
  readonly method: string;
  /** With parameters such as `{app_id}`. */
  readonly path: string;
  /** The scopes that a token needs for it, besides the scope of MCP. */
  readonly scopes: readonly string[];
  /** Its arguments in the contract's order. */
  readonly places: ReadonlyMap<string, Place>;
  readonly hasBody: boolean;
}

/** The `x-mcp-tool` extension of an operation. */
interface Mark {
  /** The name for agents. */
  readonly name: string;
  /** The name for people. */
  readonly title: string;
  /** Whether it only reads. */
  readonly read_only: boolean;
  /** Whether it deletes or revokes something. */
  readonly destructive: boolean;
  /** Whether repeating the same call changes nothing more. */
  readonly idempotent: boolean;
}

interface MarkedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
  readonly 'x-scopes'?: readonly string[];
  readonly 'x-signature'?: string;
  readonly 'x-mcp-tool'?: Mark;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

/** The parts of a contract that are read here. */
export interface ContractDocument {
  readonly info: { readonly version: string };
  readonly paths?: object;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
const NAME = /^[a-z]+(_[a-z]+)*$/;
const FLAGS = ['read_only', 'destructive', 'idempotent'] as const;
const JSON_TYPE = 'application/json';
const KEY_HEADER = 'idempotency-key';
/** The argument that becomes the header `Idempotency-Key`. */
export const KEY_ARGUMENT = 'idempotency_key';
const KEY_DESCRIPTION =
  'Makes the call safe to repeat: within 24 hours the same arguments with the same key have one effect and get the ' +
  'same result. Choose a new one, such as a UUID, for each intended effect.';

/**
 * The tools of a contract, in its order.
 * @throws Error naming the operation whose extension is malformed, or which cannot be a tool
 */
export function toolsOf(document: Pick<ContractDocument, 'paths'>): readonly ContractTool[] {
  const translator = new SchemaTranslator(document);
  const tools: ContractTool[] = [];
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    const { parameters = [] } = item as Pick<MarkedOperation, 'parameters'>;
    for (const [method, operation] of Object.entries(item as Record<string, MarkedOperation>)) {
      if (!METHODS.includes(method) || operation['x-mcp-tool'] === undefined) continue;
      try {
        tools.push(toTool(translator, method, path, parameters, operation));
      } catch (cause) {
        throw new Error(`${operation.operationId} cannot be a tool: ${(cause as Error).message}`, { cause });
      }
    }
  }
  const names = tools.map(({ tool }) => tool.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two tools are called ${twice}`);
  return tools;
}

function toTool(
  translator: SchemaTranslator,
  method: string,
  path: string,
  ofPath: NonNullable<MarkedOperation['parameters']>,
  operation: MarkedOperation,
): ContractTool {
  const { operationId, 'x-scopes': scopes = [], 'x-mcp-tool': mark, requestBody } = operation;
  assertMark(mark!, method, scopes);
  if (operation['x-signature'] === 'required') throw new Error('agents cannot sign requests');
  const places = new Map<string, Place>();
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  const add = (name: string, place: Place, schema: Schema, isRequired: boolean) => {
    if (places.has(name)) throw new Error(`two arguments are named ${name}`);
    places.set(name, place);
    properties[name] = schema;
    if (isRequired) required.push(name);
  };

  for (const each of [...ofPath, ...(operation.parameters ?? [])]) {
    const parameter = translator.resolve<Parameter>(each);
    const { name, in: place, required: isRequired = false } = parameter;
    if (place === 'path' || place === 'query') {
      add(name, place, schemaOf(translator, parameter), isRequired);
    } else if (name.toLowerCase() === KEY_HEADER) {
      add(KEY_ARGUMENT, 'key', { ...schemaOf(translator, parameter), description: KEY_DESCRIPTION }, false);
    } else if (isRequired) throw new Error(`it requires the header ${name}`);
  }
  const body = requestBody?.content[JSON_TYPE]?.schema;
  if (requestBody && !body) throw new Error('its body is not JSON');
  const members = body && translator.shapeOf(body);
  for (const [name, schema] of Object.entries(members?.properties ?? {})) {
    add(name, 'body', schema, members!.required.includes(name));
  }

  return {
    tool: {
      name: mark!.name,
      title: mark!.title,
      description: describe(operation),
      inputSchema: objectSchema({ properties, required }, { additionalProperties: false }),
      outputSchema: objectSchema(translator.shapeOf(resultSchema(operation))),
      annotations: {
        title: mark!.title,
        readOnlyHint: mark!.read_only,
        destructiveHint: mark!.destructive,
        idempotentHint: mark!.idempotent,
        // All data that a tool uses is in this service.
        openWorldHint: false,
      },
    },
    operationId,
    method: method.toUpperCase(),
    path,
    scopes,
    places,
    hasBody: body !== undefined,
  };
}

function assertMark(mark: Mark, method: string, scopes: readonly string[]): void {
  const unknown = Object.keys(mark).filter((key) => !['name', 'title', ...FLAGS].includes(key));
  if (unknown.length > 0) throw new Error(`unknown members: ${unknown.join(', ')}`);
  if (typeof mark.name !== 'string' || !NAME.test(mark.name) || mark.name.length > 64) {
    throw new Error('its name must be lower case words with underscores between them');
  }
  if (typeof mark.title !== 'string' || mark.title === '') throw new Error('its title is missing');
  for (const flag of FLAGS) {
    if (typeof mark[flag] !== 'boolean') throw new Error(`${flag} must be true or false`);
  }
  const { read_only: readOnly, destructive, idempotent } = mark;
  if (readOnly && (destructive || !idempotent))
    throw new Error('a read-only tool must be idempotent and not destructive');
  if (method === 'get' && !readOnly) throw new Error('a GET must be read-only');
  if (method === 'delete' && !destructive) throw new Error('a DELETE must be destructive');
  if (readOnly && scopes.some((scope) => scope !== 'read'))
    throw new Error('a read-only tool needs only the scope read');
}

function schemaOf(translator: SchemaTranslator, { schema, description, example }: Parameter): Schema {
  const translated = translator.translate(schema);
  return { ...translated, description, ...(example !== undefined && { examples: [example] }) };
}

function resultSchema({ responses }: MarkedOperation): Schema {
  const schema = (responses['200'] ?? responses['201'])?.content?.[JSON_TYPE]?.schema;
  if (!schema) throw new Error('its response is not JSON');
  return schema;
}

function objectSchema({ properties, required }: Shape, more: object = {}) {
  return { type: 'object' as const, properties: { ...properties }, required: [...required], ...more };
}

/** The summary and the first paragraph of the description: the rest is for HTTP clients. */
function describe({ summary, description }: MarkedOperation): string {
  const [beginning = ''] = description.split(/\n\s*\n/);
  return `${summary}. ${beginning.replaceAll(/\s+/g, ' ').trim()}`;
}
