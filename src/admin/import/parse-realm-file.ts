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
    throw new IdkitError('IDKIT_IMPORT', `${source}: the file is no JSON text${placeOf(error)}`, {
      hints: [
        `python3 -m json.tool '${source}' shows the place`,
        'correct the file, or remove it from import/, and start again',
      ],
    });
  }
}

/** Where the engine stopped, without the text there that its message quotes: a realm file holds secrets. */
function placeOf(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  if (message.includes('end of JSON input')) return ': it ends too early';
  const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(message)?.[0];
  return place === undefined ? '' : ` ${place}`;
}
