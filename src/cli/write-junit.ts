import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { IdkitError } from '../core/index.ts';
import type { CommandContext } from './command.ts';

/** Writes the file of `--junit`. @throws IDKIT_DIRECTORY_NOT_WRITABLE */
export async function writeJunit(
  context: Pick<CommandContext, 'cwd'>,
  file: string,
  xml: string,
): Promise<void> {
  try {
    await writeFile(resolve(context.cwd, file), xml);
  } catch (error) {
    throw new IdkitError('IDKIT_DIRECTORY_NOT_WRITABLE', `--junit ${file} cannot be written`, {
      cause: error,
    });
  }
}
