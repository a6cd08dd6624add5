import { test } from 'node:test';
import { openTarget } from '../../src/target/index.ts';
import { checkContract } from './contract-rules.ts';
import { findS3Gap, startS3 } from './s3-server.ts';

const gap = findS3Gap();

if (gap === undefined) {
  checkContract('s3', async (t) => {
    const server = await startS3(t);
    const target = await openTarget(`s3://${server.bucket}/idkit/copies`, { env: server.env });
    t.after(() => target.close());
    return target;
  });
} else test('s3', { skip: gap }, () => {});
