import { readFileSync } from 'node:fs';

/** This idkit's version, from its own package.json; the same path holds in a checkout and in the package. */
export function idkitVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
