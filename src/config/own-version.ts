import { readFileSync } from 'node:fs';

/**
 * This idkit's version, from the nearest package.json above this code: in a checkout, and in the package, where
 * files are joined.
 */
export function ownVersion(): string {
  for (let at = new URL('./package.json', import.meta.url); ; at = new URL('../package.json', at)) {
    const text = readIfThere(at);
    if (text !== undefined) return (JSON.parse(text) as { version: string }).version;
    if (at.pathname === '/package.json') throw new Error('no package.json above the program');
  }
}

function readIfThere(file: URL): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
}
