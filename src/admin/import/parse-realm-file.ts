import { IdkitError } from '../../core/index.ts';

/**
 * The value of a realm file's JSON text; `importRealm` judges it.
 *
 * @throws IDKIT_IMPORT that names the file where it is no JSON
 */
export function parseRealmFile(content: string, source: string): unknown {
  try {
    return JSON.parse(content.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new IdkitError(
      'IDKIT_IMPORT',
      `${source}: the file is no JSON text: ${(error as Error).message.slice(0, 200)}`,
      { hints: ['correct the file, or remove it from import/, and start again'], cause: error },
    );
  }
}
