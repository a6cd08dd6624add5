import { IdkitError } from '../core/index.ts';
import { isRemoteLocation } from '../target/index.ts';
import type { Flags } from './command.ts';

/** Returns the text of a flag, or undefined if it is not given. */
export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

/** Returns `{ [name]: value }`, or an empty object if the value is undefined. Use it for optional properties. */
export function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]?: Value });
}

/**
 * Returns the name of a realm, user or client. The name must fit into one segment of a URL path.
 *
 * @throws IDKIT_USAGE for an empty name, `.`, `..`, a slash, a backslash, a control character, or more than 255
 *   characters
 */
export function checkName(value: string, what: string): string {
  if (
    value === '' ||
    value === '.' ||
    value === '..' ||
    /[/\\\0-\x1f\x7f]/.test(value) ||
    value.length > 255
  ) {
    throw new IdkitError(
      'IDKIT_USAGE',
      `${what} must be a name without slashes or control characters, not ${JSON.stringify(value)}`,
    );
  }
  return value;
}

/** Parses the whole number of a flag. @throws IDKIT_USAGE */
export function wholeNumber(text: string, flag: string, range: { from: number; to: number }): number {
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || value < range.from || value > range.to) {
    throw new IdkitError(
      'IDKIT_USAGE',
      `${flag} must be a whole number from ${range.from} to ${range.to}, not ${JSON.stringify(text)}`,
    );
  }
  return value;
}

/** Returns `--base-url` without a trailing slash, or undefined if it is not given. @throws IDKIT_USAGE */
export function baseUrlFlag(flags: Flags): string | undefined {
  const text = textFlag(flags, 'baseUrl');
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  const plain =
    url !== null &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.username === '' &&
    url.password === '' &&
    !/[?#\s]/.test(text);
  if (!plain) {
    throw new IdkitError(
      'IDKIT_USAGE',
      '--base-url must be an http or https URL without credentials, query or fragment',
    );
  }
  return text.replace(/\/+$/, '');
}

/** Returns `--root` if it names a target on another machine, such as `s3://bucket/prefix`. */
export function remoteRoot(flags: Flags): string | undefined {
  const root = textFlag(flags, 'root');
  return root !== undefined && isRemoteLocation(root) ? root : undefined;
}
