import { PassThrough, type Readable } from 'node:stream';

/** Runs `dump` and passes what it writes to `load`. If one of them fails, so does the other. */
export async function pipeDump<T>(
  dump: (write: (chunk: Uint8Array) => Promise<void>) => Promise<unknown>,
  load: (sql: Readable) => Promise<T>,
): Promise<T> {
  const sql = new PassThrough();
  // The load reports the error of the stream.
  sql.on('error', () => undefined);
  const write = (chunk: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      // A copy, because the dump uses the memory again.
      sql.write(Buffer.from(chunk), (error) => (error ? reject(error) : resolve()));
    });
  const dumped = dump(write).then(
    () => void sql.end(),
    (error: Error) => void sql.destroy(error),
  );
  try {
    return await load(sql);
  } finally {
    sql.destroy();
    await dumped;
  }
}
