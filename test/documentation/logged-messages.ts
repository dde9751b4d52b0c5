import ts from 'typescript';

const LEVELS = ['warn', 'error', 'fatal'];
const LOG = /log(?:ger)?$/i;

/** The warnings and errors that a file logs, as `level: message`; a message that is no literal by its code. */
export function loggedMessages(code: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isCallExpression(node)) return;
    if (ts.isElementAccessExpression(node.expression) && LOG.test(node.expression.expression.getText()))
      found.push(`computed level: ${node.getText()}`);
    if (!ts.isPropertyAccessExpression(node.expression)) return;
    const { name, expression } = node.expression;
    const message = node.arguments.at(-1);
    if (!LEVELS.includes(name.text) || !LOG.test(expression.getText()) || !message) return;
    found.push(`${name.text}: ${ts.isStringLiteralLike(message) ? message.text : message.getText()}`);
  };
  visit(ts.createSourceFile('x.ts', code, ts.ScriptTarget.Latest, true));
  return found;
}
