import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

/**
 * Returns the path of a Node.js 20: that of IDKIT_TEST_NODE_20, or the system's. Returns undefined if there is none, and
 * fails instead if every component is required.
 */
export function findNode20(): string | undefined {
  const { IDKIT_TEST_NODE_20: given, IDKIT_TEST_REQUIRE_ALL: required } = process.env;
  const found = [given, '/usr/bin/node'].find(
    (path) => path && /^v20\./.test(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? ''),
  );
  if (found === undefined && required === '1')
    assert.fail('IDKIT_TEST_NODE_20 must be the path of a Node.js 20, because every component is required');
  return found;
}
