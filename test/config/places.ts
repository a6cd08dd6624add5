import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Creates an empty directory that is removed after the test. */
export function makeDirectory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-config-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Creates a platform directory with these files. */
export function makePlatform(t: TestContext, files: { yaml?: string; env?: string; mode?: number }): string {
  const dir = makeDirectory(t);
  mkdirSync(join(dir, 'data'));
  writeFileSync(join(dir, 'idkit.yaml'), files.yaml ?? '');
  if (files.env !== undefined) writeFileSync(join(dir, '.env'), files.env, { mode: files.mode ?? 0o600 });
  return dir;
}
