import { globSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Replaces the parts of a text that are known at run time only. */
const UNKNOWN = '\u0000';

/** A table name in a statement. */
export interface TableName {
  /** Includes a schema other than `public`. Undefined for a name that is known at run time only. */
  readonly table: string | undefined;
  /** Whether the statement inserts, updates, deletes or locks the table. */
  readonly written: boolean;
}

/** A table name in a statement of a file. */
export interface TableUse extends TableName {
  readonly file: string;
}

const NAMING = new Set(['from', 'join', 'update', 'into', 'using', 'table']);
const WRITING = new Set(['update', 'into', 'table']);
const LISTING = new Set(['from', 'using', 'table']);
const LIST_ENDS = new Set('where set order group having returning limit for union select values'.split(' '));
const SKIPPED = new Set(['only', 'lateral']);
const TOKEN = new RegExp(`'(?:[^']|'')*'|--.*|[a-z_][\\w.]*|\\?+|${UNKNOWN}|\\S`, 'gi');

/** Every name in SQL at the position of a table name, including names of CTEs and functions. */
export function tablesOf(sql: string): TableName[] {
  const found: TableName[] = [];
  // For each level of parentheses, the keyword that a comma repeats: `from` in a list of tables, or nothing.
  const lists = [''];
  let [before, named] = ['', ''];
  let written = false;
  for (const [token] of sql.matchAll(TOKEN)) {
    const word = token.toLowerCase();
    if (NAMING.has(word) && !(word === 'update' && ['for', 'key', 'do'].includes(before))) {
      named = word;
      written = WRITING.has(word) || before === 'delete';
      if (!LISTING.has(word) && word !== 'join') lists[lists.length - 1] = '';
    } else if (named !== '' && !SKIPPED.has(word)) {
      if (/^[a-z_]/.test(word)) found.push({ table: word, written });
      if (word === '??' || word === UNKNOWN) found.push({ table: undefined, written });
      if (LISTING.has(named)) lists[lists.length - 1] = named === 'table' ? 'table' : 'from';
      named = '';
    }
    const list = lists.at(-1);
    if (word === '(') lists.push('');
    else if (word === ')') lists.pop();
    else if (word === ',' && list) [named, written] = [list, list === 'table'];
    else if (LIST_ENDS.has(word)) lists[lists.length - 1] = '';
    before = word;
  }
  return found;
}

const BUILDERS = new Set(['knex', 'db', 'trx']);
const METHODS = new Set(['from', 'into', 'table', 'join', 'innerJoin', 'leftJoin', 'rightJoin', 'crossJoin']);
const WRITES = new Set(['insert', 'update', 'delete', 'del', 'increment', 'decrement', 'truncate']);
const SQL = new RegExp(
  `^[\\s(${UNKNOWN}]*(select|insert|update|delete|with|lock|from|join|exists|not exists)\\b|\\(\\s*select\\b`,
  'i',
);

/** Every table name in the repository: in SQL texts, and in arguments of knex. */
export function tableUses(patterns: readonly string[]): TableUse[] {
  const files = globSync(patterns, { cwd: root }).sort();
  const program = programOf(files);
  const checker = program.getTypeChecker();
  return files.flatMap((file) => {
    const uses: TableUse[] = [];
    const add = (use: TableName) => uses.push({ file, ...use });
    const visit = (node: ts.Node): void => {
      const text = textOf(node, checker);
      if (text !== undefined && SQL.test(text)) tablesOf(text).forEach(add);
      const argument = builtOn(node);
      if (argument) {
        const written = isWritten(node);
        for (const name of valuesOf(argument, checker)) add({ table: name?.split(' ')[0], written });
      }
      ts.forEachChild(node, visit);
    };
    visit(program.getSourceFile(posix.join(root, file))!);
    return uses;
  });
}

/** The files and their imports in the repository: enough to resolve constants, and fast. */
function programOf(files: readonly string[]): ts.Program {
  const options: ts.CompilerOptions = {
    noLib: true,
    types: [],
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    target: ts.ScriptTarget.Latest,
    module: ts.ModuleKind.NodeNext,
  };
  const host = ts.createCompilerHost(options);
  host.resolveModuleNameLiterals = (names, importer) =>
    names.map(({ text }) => ({
      resolvedModule: text.startsWith('.')
        ? { resolvedFileName: posix.join(posix.dirname(importer), text), extension: ts.Extension.Ts }
        : undefined,
    }));
  return ts.createProgram(
    files.map((file) => posix.join(root, file)),
    options,
    host,
  );
}

/** The possible values of an expression by its type, or undefined. */
function valuesOf(expression: ts.Expression, checker: ts.TypeChecker): (string | undefined)[] {
  const type = checker.getTypeAtLocation(expression);
  const types = type.isUnion() ? type.types : [type];
  return types.map((each) => (each.isStringLiteral() ? each.value : undefined));
}

/** The text of a string or a template with its constants, or undefined for other nodes. */
function textOf(node: ts.Node, checker: ts.TypeChecker): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  const parts = node.templateSpans.map(({ expression, literal }) => {
    const [value, ...others] = valuesOf(expression, checker);
    return (others.length === 0 && value !== undefined ? value : UNKNOWN) + literal.text;
  });
  return node.head.text + parts.join('');
}

/** The table in a call of knex, or of a helper with a table name. */
function builtOn(node: ts.Node): ts.Expression | undefined {
  if (ts.isPropertyAssignment(node)) {
    return /^table(Name)?$/.test(node.name.getText()) ? node.initializer : undefined;
  }
  if (!ts.isCallExpression(node)) return undefined;
  const { expression: called, arguments: given } = node;
  if (ts.isIdentifier(called)) return BUILDERS.has(called.text) ? given[0] : undefined;
  const isMethod = ts.isPropertyAccessExpression(called) && METHODS.has(called.name.text);
  return isMethod && !/^(Array|Buffer)\.from$/.test(called.getText()) ? given[0] : undefined;
}

/** Whether the call chain at a node writes. Helpers with a `table:` argument write. */
function isWritten(node: ts.Node): boolean {
  if (ts.isPropertyAssignment(node)) return true;
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.expression === node) {
    return WRITES.has(parent.name.text) || isWritten(parent.parent);
  }
  return ts.isCallExpression(node) && ts.isCallExpression(parent) && parent.expression === node
    ? isWritten(parent)
    : false;
}
