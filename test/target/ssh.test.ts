import { join } from 'node:path';
import { test } from 'node:test';
import { openTarget } from '../../src/target/index.ts';
import { checkContract } from './contract-rules.ts';
import { scratch } from './scratch.ts';
import { findSshGap, startSsh } from './ssh-server.ts';

const gap = findSshGap();

if (gap === undefined) {
  checkContract('ssh', async (t) => {
    const server = await startSsh(t);
    const target = await openTarget(
      `ssh://${server.user}@127.0.0.1:${server.port}${join(scratch(t), 'deep/copies')}`,
      {
        env: server.env,
      },
    );
    t.after(() => target.close());
    return target;
  });
} else test('ssh', { skip: gap }, () => {});
