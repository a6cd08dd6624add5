import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';

/** Returns whether the program exists. If not, skips the test, or fails it if IDKIT_TEST_REQUIRE_ALL is set. */
export function hasProgram(t: TestContext, program: string): boolean {
  const found = spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
  if (found) return true;
  assert.notEqual(process.env['IDKIT_TEST_REQUIRE_ALL'], '1', `needs ${program}`);
  t.skip(`needs ${program}`);
  return false;
}

/** Runs a program to its end. Its output is UTF-8. */
export function run(
  program: string,
  args: readonly string[],
  options: { cwd?: string; input?: string | Uint8Array; env?: Record<string, string> } = {},
) {
  const done = spawnSync(program, args, {
    ...options,
    env: { ...process.env, LC_ALL: 'C.UTF-8', ...options.env },
    maxBuffer: 256 * 1024 * 1024,
  });
  return {
    status: done.status,
    stdout: done.stdout,
    text: done.stdout.toString(),
    errors: done.stderr.toString(),
  };
}
