import { IdkitError } from '../../core/index.ts';
import { printable } from './output.ts';

/** @throws IDKIT_USAGE if the expression is not JMESPath */
export async function checkQuery(expression: string): Promise<void> {
  const { compile } = await import('@jmespath-community/jmespath');
  try {
    compile(expression);
  } catch (error) {
    throw brokenQuery(expression, error);
  }
}

/**
 * Renders what a JMESPath expression selects in a list or a record. A text is printed as it is, and a list of texts,
 * numbers and booleans with one of them a line. Everything else is printed as JSON.
 *
 * @throws IDKIT_USAGE if the expression does not fit the data
 */
export async function* renderQuery(input: unknown, expression: string): AsyncGenerator<string> {
  const { search } = await import('@jmespath-community/jmespath');
  let found: unknown;
  try {
    found = search(input as Parameters<typeof search>[0], expression);
  } catch (error) {
    throw brokenQuery(expression, error);
  }
  const lines = Array.isArray(found) && found.every(isScalar) ? found.map(lineOf) : [lineOf(found)];
  if (lines.length > 0) yield `${lines.join('\n')}\n`;
}

function isScalar(value: unknown): boolean {
  return value !== null && ['string', 'number', 'boolean'].includes(typeof value);
}

function lineOf(value: unknown): string {
  return printable(typeof value === 'string' ? value : JSON.stringify(value ?? null, null, 2));
}

function brokenQuery(expression: string, error: unknown): IdkitError {
  const reason = (error as Error).message.split('\n')[0]!;
  return new IdkitError('IDKIT_USAGE', `--jq ${JSON.stringify(expression)} cannot be evaluated: ${reason}`, {
    hints: ["the expression is JMESPath, for example '[?enabled].username'; jq itself can read -o json"],
    cause: error,
  });
}
