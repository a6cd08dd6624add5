import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Target, TargetFile } from '../../src/target/index.ts';

/** Creates a directory that is removed after the test. */
export function scratch(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-target-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Yields the bytes in chunks. */
export async function* chunks(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export async function readAll(
  target: Target,
  name: string,
  range?: { start: number; length: number },
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of await target.read(name, range)) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

export async function listAll(target: Target, prefix = ''): Promise<readonly TargetFile[]> {
  const files: TargetFile[] = [];
  for await (const file of target.list(prefix)) files.push(file);
  return files;
}

/** A file of random bytes. */
export function randomFile(bytes: number): Buffer {
  return randomBytes(bytes);
}
