import ts from 'typescript';

/** A regular expression and where it was found. */
export interface Expression {
  readonly source: string;
  readonly flags: string;
  /** `file:line`, or the file alone. */
  readonly place: string;
  /** The member of an object that it is the value of. */
  readonly member?: string;
}

/** What a file holds. */
export interface Found {
  readonly expressions: Expression[];
  /** Where an expression is built from values, so that its text is unknown: `file: the argument as written`. */
  readonly built: string[];
}

/** Collects the regular expressions of a script: literals, and calls of `RegExp` with constants. */
export function expressionsOf(file: string, text: string): Found {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false);
  const found: Found = { expressions: [], built: [] };

  function add(node: ts.Node, source: string, flags: string, member?: string): void {
    const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
    found.expressions.push({ source, flags, place: `${file}:${line}`, ...(member && { member }) });
  }

  function visit(node: ts.Node, parent: ts.Node): void {
    const name = ts.isPropertyAssignment(parent) ? parent.name : undefined;
    const member = name && (ts.isIdentifier(name) || ts.isStringLiteral(name)) ? name.text : undefined;
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      add(node, node.text.slice(1, end), node.text.slice(end + 1), member);
    } else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && isRegExp(node.expression)) {
      const [source, flags] = node.arguments ?? [];
      const sourceText = constantOf(source);
      const flagsText = flags ? constantOf(flags) : '';
      if (sourceText !== undefined && flagsText !== undefined) add(node, sourceText, flagsText, member);
      else if (source && !ts.isRegularExpressionLiteral(source)) {
        found.built.push(`${file}: ${source.getText(tree)}`);
      }
    }
    ts.forEachChild(node, (child) => visit(child, node));
  }

  visit(tree, tree);
  return found;
}

/** Calls a function and records the expressions built from strings meanwhile, such as by a module that it loads. */
export function builtBy(load: () => unknown): { source: string; flags: string }[] {
  const built: RegExp[] = [];
  const { RegExp: original } = globalThis;
  function noted(expression: RegExp): RegExp {
    built.push(expression);
    return expression;
  }
  globalThis.RegExp = new Proxy(original, {
    construct: (target, args, newTarget) => noted(Reflect.construct(target, args, newTarget) as RegExp),
    apply: (target, _, args: [string, string?]) => noted(target(...args)),
  });
  try {
    load();
  } finally {
    globalThis.RegExp = original;
  }
  return built.map(({ source, flags }) => ({ source, flags }));
}

function isRegExp(node: ts.Expression): boolean {
  return ts.isIdentifier(node) && node.text === 'RegExp';
}

/** The text of constants, joined by `+` or in a template without placeholders. */
function constantOf(node: ts.Expression | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [constantOf(node.left), constantOf(node.right)];
    return left === undefined || right === undefined ? undefined : left + right;
  }
  return undefined;
}
