import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { IdkitError, isJsonObject } from '../../../../core/index.ts';
import type { CommandContext } from '../../../command.ts';
import type { ApiRecord } from '../lookup.ts';

/** Maximum size of a file. The service accepts no larger body either. */
const MAX_BYTES = 67_108_864;

/**
 * Reads a record from the file of `--file`, or from stdin if the file is `-`. The file is JSON or YAML.
 *
 * @throws IDKIT_USAGE
 */
export async function readInput(context: CommandContext, file: string): Promise<ApiRecord> {
  return await parseRecord(await readInputText(context, file), `--file ${file}`);
}

/** Reads a file, or stdin if the file is `-`. @throws IDKIT_USAGE */
export async function readInputText(context: CommandContext, file: string): Promise<string> {
  if (file === '-') return await readStdin(context);
  try {
    return await readFile(resolve(context.cwd, file), 'utf8');
  } catch (error) {
    throw new IdkitError('IDKIT_USAGE', `the file ${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Parses a record that is JSON or YAML. @throws IDKIT_USAGE with the line of the error */
export async function parseRecord(text: string, source: string): Promise<ApiRecord> {
  let value: unknown;
  // JSON.parse is much faster than the YAML parser, and realm files are large.
  if (/^\s*[{[]/.test(text)) value = parseJson(text, source);
  else {
    const { parseDocument } = await import('yaml');
    const document = parseDocument(text, { prettyErrors: true });
    const [error] = document.errors;
    if (error !== undefined) {
      const message = error.message.split('\n')[0]!.replace(/:$/, '');
      throw new IdkitError('IDKIT_USAGE', `${source} is not YAML: ${message}`, { cause: error });
    }
    value = document.toJS();
  }
  if (isJsonObject(value)) return value;
  throw new IdkitError('IDKIT_USAGE', `${source} must contain one object`);
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new IdkitError('IDKIT_USAGE', `${source} is not JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function readStdin({ terminal }: CommandContext): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of terminal.stdin) {
    const bytes = Buffer.from(chunk as string | Uint8Array);
    chunks.push(bytes);
    size += bytes.length;
    if (size > MAX_BYTES) throw new IdkitError('IDKIT_USAGE', `stdin is longer than ${MAX_BYTES} bytes`);
  }
  return Buffer.concat(chunks).toString('utf8');
}
