import { randomBytes } from 'node:crypto';
import { openTarget } from '../../src/target/index.ts';
import { findAccount } from '../../src/target/s3/account.ts';
import { createS3Client } from '../../src/target/s3/client.ts';
import { findS3Gap, startS3 } from '../target/s3-server.ts';

/** Size in bytes of the file, and how often each way is measured. The ways alternate, so that both see the same machine. */
const BYTES = 96 * 1024 * 1024;
const ROUNDS = 3;

/** Speeds in MB/s. */
export interface S3Speeds {
  /** `Target.put` of idkit: parts in parallel, hashed and checked. */
  put: number;
  /** One request of the same client with the whole file from memory. */
  plain: number;
  read: number;
}

/** Measures uploads to a real S3 server on this machine. Each speed is the median of its rounds. */
export async function measureS3(): Promise<S3Speeds> {
  const gap = findS3Gap();
  if (gap !== undefined) throw new Error(gap);
  const ends: (() => Promise<void> | void)[] = [];
  const server = await startS3({ after: (end: unknown) => void ends.push(end as () => void) });
  const target = await openTarget(`s3://${server.bucket}/bench`, { env: server.env });
  const client = createS3Client(await findAccount(server.env), server.bucket, {
    label: 'plain',
    stallMilliseconds: 60_000,
  });
  const file = new Uint8Array(randomBytes(BYTES));
  const times: Record<keyof S3Speeds, number[]> = { put: [], plain: [], read: [] };
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      times.plain.push(
        await timed(async () => {
          const { body } = await client.send({ method: 'PUT', key: 'bench/plain', body: file });
          body.resume();
        }),
      );
      times.put.push(await timed(() => target.put('put', chunks(file), { size: BYTES })));
      times.read.push(
        await timed(async () => {
          for await (const _ of await target.read('put'));
        }),
      );
    }
  } finally {
    client.close();
    await target.close();
    for (const end of ends.toReversed()) await end();
  }
  const speed = (all: readonly number[]) =>
    BYTES / 1e6 / (all.toSorted((a, b) => a - b)[ROUNDS >> 1] as number);
  return { put: speed(times.put), plain: speed(times.plain), read: speed(times.read) };
}

async function* chunks(file: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += 256 * 1024) yield file.subarray(at, at + 256 * 1024);
}

/** Duration in seconds. */
async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

if (import.meta.main) {
  const { put, plain, read } = await measureS3();
  process.stdout.write(
    `S3: put ${put.toFixed(0)} MB/s, plain ${plain.toFixed(0)} MB/s (${(put / plain).toFixed(2)}), read ${read.toFixed(0)} MB/s\n`,
  );
}
