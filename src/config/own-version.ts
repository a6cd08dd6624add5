import { existsSync, readFileSync } from 'node:fs';
import { parseJsonObject } from '../core/index.ts';

/** Returns the directory of the running idkit package: the nearest parent directory with a package.json. */
export function ownDirectory(): URL {
  for (let at = new URL('./', import.meta.url); ; at = new URL('../', at)) {
    if (existsSync(new URL('package.json', at))) return at;
    if (at.pathname === '/') throw new Error('the directories above the program contain no package.json');
  }
}

export function ownVersion(): string {
  const text = readFileSync(new URL('package.json', ownDirectory()), 'utf8');
  return String(parseJsonObject(text)?.['version']);
}
