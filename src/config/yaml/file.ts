import { readFileSync } from 'node:fs';
import type { YAMLMap } from 'yaml';
import { errorMessage, IdkitError, nearestName, systemErrorCode } from '../../core/index.ts';
import { isEnvironmentOnly, type SettingRow } from '../settings/row.ts';
import { SETTINGS } from '../settings/table.ts';

/** A value of idkit.yaml with its line number. */
export interface YamlValue {
  value: unknown;
  line: number;
}

const MAX_BYTES = 1_048_576;

/**
 * Reads the values of idkit.yaml by dotted name. Returns undefined if the file does not exist.
 *
 * @throws IDKIT_SETTING with the line, for text that is not YAML, a duplicate key or an unknown key
 */
export async function readYamlFile(
  file: string,
  rows: readonly SettingRow[] = SETTINGS,
): Promise<ReadonlyMap<string, YamlValue> | undefined> {
  const bytes = readBytes(file);
  return bytes === undefined ? undefined : parseYamlFile(bytes, file, rows);
}

/** Parses the bytes of idkit.yaml as `readYamlFile` does. @param file the name for messages */
export async function parseYamlFile(
  bytes: Uint8Array,
  file: string,
  rows: readonly SettingRow[] = SETTINGS,
): Promise<ReadonlyMap<string, YamlValue>> {
  const text = decode(bytes, file);
  // A file that contains only comments, as init writes it, does not need the parser.
  if (/^(?:\s*#[^\n]*(?:\n|$)|\s)*$/.test(text)) return new Map();
  const { isMap, LineCounter, parseDocument, visit } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number | undefined): number => lines.linePos(offset ?? 0).line;
  const [fault] = document.errors;
  if (fault !== undefined) {
    throw new IdkitError(
      'IDKIT_SETTING',
      `${file} line ${lineAt(fault.pos[0])}: ${lowerFirst(fault.message)}`,
    );
  }
  // Reject aliases: settings do not need them, and a few lines of aliases can expand to gigabytes.
  visit(document, {
    Alias: (_, node) => {
      throw new IdkitError(
        'IDKIT_SETTING',
        `${file} line ${lineAt(node.range?.[0])}: aliases are not allowed`,
      );
    },
  });
  const root = document.contents;
  if (root === null) return new Map();
  if (!isMap(root)) throw new IdkitError('IDKIT_SETTING', `${file} must be a mapping of settings`);

  const values = new Map<string, YamlValue>();
  const known = rows.filter((row) => !isEnvironmentOnly(row)).map((row) => row.name);
  const walk = (map: YAMLMap, prefix: string): void => {
    for (const pair of map.items) {
      const key = pair.key as { value?: unknown; range?: readonly number[] };
      const line = lineAt(key.range?.[0]);
      const name = `${prefix}${String(key.value)}`;
      if (known.includes(name)) {
        const node = pair.value as { toJS?: (document: unknown) => unknown } | null;
        values.set(name, { value: node?.toJS?.(document) ?? null, line });
        continue;
      }
      if (!known.some((other) => other.startsWith(`${name}.`))) {
        throw unknownKey(file, line, name, prefix, known);
      }
      if (!isMap(pair.value)) {
        throw new IdkitError(
          'IDKIT_SETTING',
          `${file} line ${line}: ${name} must be a mapping with ${keysBelow(name, known).join(', ')}`,
        );
      }
      walk(pair.value as YAMLMap, `${name}.`);
    }
  };
  walk(root as YAMLMap, '');
  return values;
}

function unknownKey(
  file: string,
  line: number,
  name: string,
  prefix: string,
  known: readonly string[],
): IdkitError {
  const siblings = keysBelow(prefix.slice(0, -1), known);
  const own = name.slice(prefix.length);
  const near = nearestName(own, siblings);
  const elsewhere = nearestName(own, known) ?? known.find((other) => other.endsWith(`.${own}`));
  const meant = near === undefined ? elsewhere : `${prefix}${near}`;
  const hint = meant === undefined ? `known keys: ${siblings.join(', ')}` : `did you mean ${meant}?`;
  return new IdkitError('IDKIT_SETTING', `${file} line ${line}: unknown key ${JSON.stringify(name)}`, {
    hints: [hint],
  });
}

/** Lists the keys directly below a dotted name. The empty name stands for the whole document. */
function keysBelow(name: string, known: readonly string[]): readonly string[] {
  const prefix = name === '' ? '' : `${name}.`;
  const below = known.filter((other) => other.startsWith(prefix));
  return [...new Set(below.map((other) => other.slice(prefix.length).replace(/\..*$/, '')))];
}

function readBytes(file: string): Uint8Array | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw new IdkitError('IDKIT_SETTING', `${file} cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function decode(bytes: Uint8Array, file: string): string {
  if (bytes.length > MAX_BYTES) {
    throw new IdkitError('IDKIT_SETTING', `${file} is larger than ${MAX_BYTES} bytes`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new IdkitError('IDKIT_SETTING', `${file} is not UTF-8`, { cause: error });
  }
}

function lowerFirst(text: string): string {
  const line = text.replace(/\n.*$/s, '').replace(/\.$/, '');
  return line.charAt(0).toLowerCase() + line.slice(1);
}
