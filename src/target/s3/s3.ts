import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { IdkitError } from '../../core/index.ts';
import type { Target, TargetFile } from '../contract.ts';
import { hostile, isNetworkError, TargetFileFault, unreachable } from '../faults.ts';
import type { TargetLocation } from '../location.ts';
import { checkListed, checkName, compareNames, MOST_FILES } from '../names.ts';
import type { OpenTargetOptions } from '../open.ts';
import { findAccount } from './account.ts';
import { createS3Client, explainRefusal, type S3Client } from './client.ts';
import { S3Refusal } from './refusal.ts';
import { upload } from './upload.ts';
import { findElements, findText } from './xml.ts';

const STALL_MILLISECONDS = 60_000;
/** Pages may be empty, for example if they would list only deleted objects, but not without end. */
const MOST_EMPTY_PAGES = 100;
/** How often a broken download continues, without a byte in between. */
const RESUMES = 3;

/**
 * Opens a bucket of S3, or a prefix in it. No request is sent before the first call.
 *
 * @throws IDKIT_SETTING if the keys or the address are missing or wrong
 */
export async function openS3Target(
  place: Extract<TargetLocation, { kind: 's3' }>,
  options: OpenTargetOptions,
): Promise<Target> {
  const account = await findAccount(options.env ?? process.env);
  const label = `s3://${place.bucket}${place.prefix === '' ? '' : `/${place.prefix}`}`;
  const stallMilliseconds = options.stallMilliseconds ?? STALL_MILLISECONDS;
  const client = createS3Client(account, place.bucket, {
    label,
    stallMilliseconds,
    pauseMilliseconds: options.pauseMilliseconds,
  });
  const base = place.prefix === '' ? '' : `${place.prefix}/`;
  const keyOf = (name: string) => {
    checkName(name);
    return `${base}${name}`;
  };
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw explainRefusal(label, account, error);
    }
  };
  return {
    label,
    async *list(prefix, signal) {
      try {
        yield* listObjects(client, base, prefix, signal);
      } catch (error) {
        throw explainRefusal(label, account, error);
      }
    },
    async read(name, range, signal) {
      const key = keyOf(name);
      return guarded(async () => {
        const source = readObject(client, key, name, range, signal);
        // The first bytes are fetched here, so that a missing file is reported by this call.
        const first = await source.next();
        return Readable.from(continued(first, source), { objectMode: false });
      });
      async function* continued(
        first: IteratorResult<Buffer, void>,
        source: AsyncGenerator<Buffer, void, undefined>,
      ): AsyncGenerator<Buffer> {
        try {
          if (first.done === true) return;
          yield first.value;
          yield* source;
        } catch (error) {
          throw explainRefusal(label, account, error);
        } finally {
          await source.return();
        }
      }
    },
    size: (name, signal) => guarded(() => findSize(client, keyOf(name), signal)),
    put: (name, content, given) =>
      guarded(async () => {
        const key = keyOf(name);
        if (given?.onlyNew === true && (await findSize(client, key, given.signal)) !== undefined)
          throw new TargetFileFault('TARGET_FILE_EXISTS', label, name);
        await upload(client, key, content, { ...given, name });
      }),
    remove: (name, signal) =>
      guarded(async () => {
        (await client.send({ method: 'DELETE', key: keyOf(name), signal })).body.resume();
      }),
    // S3 keeps the parts of an upload outside the names, and the rules of the bucket expire them.
    async removeDrafts() {},
    async close() {
      client.close();
    },
  };
}

async function findSize(client: S3Client, key: string, signal?: AbortSignal): Promise<number | undefined> {
  try {
    const { headers } = await client.send({ method: 'HEAD', key, signal });
    return lengthOf(client, headers['content-length']);
  } catch (error) {
    // A bucket that does not exist is reported by the other calls: the response to HEAD has no code.
    if (error instanceof S3Refusal && error.status === 404) return undefined;
    throw error;
  }
}

function lengthOf(client: S3Client, header: string | string[] | undefined): number {
  const length = typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
  if (length === undefined) throw hostile(client.label, 'S3 did not return the length of an object');
  return length;
}

async function* listObjects(
  client: S3Client,
  base: string,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<TargetFile> {
  let token: string | undefined;
  let last: string | undefined;
  for (let count = 0, empty = 0; ; ) {
    const before = count;
    const { text } = await client.sendForText({
      method: 'GET',
      query: {
        'list-type': '2',
        'encoding-type': 'url',
        prefix: `${base}${prefix}`,
        ...(token === undefined ? {} : { 'continuation-token': token }),
      },
      signal,
    });
    // Some servers ignore the wish for encoded names.
    const isEncoded = findText(text, 'EncodingType') === 'url';
    for (const row of findElements(text, 'Contents')) {
      const written = findText(row, 'Key') ?? '';
      const key = isEncoded ? decodeKey(client, written) : written;
      if (!key.startsWith(`${base}${prefix}`))
        throw hostile(client.label, 'S3 lists objects outside the prefix');
      // Some programs create objects as directories. Their names end with a slash.
      if (key.endsWith('/')) continue;
      const name = key.slice(base.length);
      checkListed(client.label, name);
      if (last !== undefined && compareNames(last, name) >= 0)
        throw hostile(client.label, 'S3 lists names twice or out of order');
      last = name;
      count += 1;
      if (count > MOST_FILES) throw hostile(client.label, `S3 lists more than ${MOST_FILES} objects`);
      yield { name, size: lengthOf(client, findText(row, 'Size')) };
    }
    const next =
      findText(text, 'IsTruncated') === 'true' ? findText(text, 'NextContinuationToken') : undefined;
    if (next === undefined || next === '') return;
    if (next === token) throw hostile(client.label, 'S3 repeats a page of its list');
    empty = count === before ? empty + 1 : 0;
    if (empty > MOST_EMPTY_PAGES) throw hostile(client.label, 'S3 lists pages without a name');
    token = next;
  }
}

function decodeKey(client: S3Client, text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', '%20'));
  } catch {
    throw hostile(client.label, 'S3 lists a name that is not encoded as UTF-8');
  }
}

/** Streams an object. A broken download continues where it ended, if the object is still the same. */
async function* readObject(
  client: S3Client,
  key: string,
  name: string,
  range: { start: number; length: number } | undefined,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  if (range?.length === 0) return;
  let at = range?.start ?? 0;
  let end = range === undefined ? undefined : range.start + range.length;
  let etag: string | undefined;
  for (let left = RESUMES; ; left -= 1) {
    const response = await get(client, key, name, { at, end, etag, signal });
    if (response === undefined) return;
    const length = lengthOf(client, response.headers['content-length']);
    end = Math.min(end ?? Number.POSITIVE_INFINITY, at + length);
    etag ??= typeof response.headers['etag'] === 'string' ? response.headers['etag'] : undefined;
    try {
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        if (at + chunk.length > end) throw hostile(client.label, `${name} is longer than S3 announced`);
        at += chunk.length;
        left = RESUMES;
        yield chunk;
      }
      if (at >= end) return;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof IdkitError) throw error;
      if (left === 0 || etag === undefined || !isNetworkError(error))
        throw unreachable(client.label, `the download of ${name} broke off after ${at} bytes`, error);
    } finally {
      response.body.destroy();
    }
    if (left === 0) throw unreachable(client.label, `the download of ${name} broke off after ${at} bytes`);
  }
}

async function get(
  client: S3Client,
  key: string,
  name: string,
  {
    at,
    end,
    etag,
    signal,
  }: { at: number; end: number | undefined; etag: string | undefined; signal: AbortSignal | undefined },
): Promise<{ headers: Record<string, string | string[] | undefined>; body: IncomingMessage } | undefined> {
  const part = at > 0 || end !== undefined;
  try {
    const response = await client.send({
      method: 'GET',
      key,
      headers: {
        ...(part ? { Range: `bytes=${at}-${end === undefined ? '' : end - 1}` } : {}),
        ...(etag === undefined ? {} : { 'If-Match': etag }),
      },
      signal,
    });
    if (part && response.status !== 206 && at > 0) {
      response.body.destroy();
      throw hostile(client.label, 'S3 ignored the range of a request');
    }
    return response;
  } catch (error) {
    if (!(error instanceof S3Refusal)) throw error;
    if (error.status === 416) return undefined;
    if (error.status === 412)
      throw new IdkitError('IDKIT_CHANGED', `${client.label}: ${name} was replaced while it was read`);
    if (error.status === 404 && error.code !== 'NoSuchBucket')
      throw new TargetFileFault('TARGET_FILE_MISSING', client.label, name, error);
    throw error;
  }
}
