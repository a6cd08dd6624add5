import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openTarget, type Target } from '../../src/target/index.ts';
import { hasProgram } from '../interop/system-program.ts';
import { checkContract } from './contract-rules.ts';
import { scratch } from './scratch.ts';

/** Opens a directory through a remote of rclone of the type `alias`. */
async function open(t: TestContext): Promise<Target> {
  const dir = scratch(t);
  const env = {
    ...process.env,
    RCLONE_CONFIG: join(dir, 'rclone.conf'),
    RCLONE_CONFIG_OFFSITE_TYPE: 'alias',
    RCLONE_CONFIG_OFFSITE_REMOTE: join(dir, 'remote'),
  };
  return openTarget('rclone:offsite:idkit/copies', { env });
}

test('rclone is installed', (t) => {
  hasProgram(t, 'rclone');
});

checkContract('rclone', open);
