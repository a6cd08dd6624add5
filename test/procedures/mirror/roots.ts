import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MirrorOptions } from '../../../src/procedures/index.ts';

/** The time of the newest set of the tests, as Unix time in milliseconds. */
export const NOW = Date.UTC(2026, 10, 22, 10, 11, 12);

export const KEEP_ALL = { last: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0 };

/** Writes a set with random files whose checksums are right. It has no manifest, so nothing but the checksums is judged. */
export function writeSet(root: string, name: string, bytes = 600_000): string {
  const dir = join(root, name);
  mkdirSync(dir, { recursive: true });
  const files = { 'config.tar.gz': randomBytes(2000), 'keycloak-db.sql.gz': randomBytes(bytes) };
  const lines = Object.entries(files).map(([file, content]) => {
    writeFileSync(join(dir, file), content);
    return `${createHash('sha256').update(content).digest('hex')}  ${file}\n`;
  });
  writeFileSync(join(dir, 'checksums.sha256'), lines.join(''));
  return name;
}

/** Options of a run that deletes nothing. */
export function mirrorOptions(
  root: string,
  target: string,
  more: Partial<MirrorOptions> = {},
): MirrorOptions {
  return {
    root,
    target,
    now: NOW,
    signal: new AbortController().signal,
    keep: KEEP_ALL,
    deletes: false,
    maxDelete: 5,
    ...more,
  };
}
