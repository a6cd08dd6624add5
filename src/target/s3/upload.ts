import { crc32 } from 'node:zlib';
import { IdkitError } from '../../core/index.ts';
import { checkSize } from '../check-size.ts';
import type { PutOptions } from '../contract.ts';
import { TargetFileFault, unreachable } from '../faults.ts';
import type { S3Client } from './client.ts';
import { S3Refusal } from './refusal.ts';
import { checkXml, encodeText, findText } from './xml.ts';

/** Size in bytes of a part, and the number of parts that are sent in parallel. They bound the memory of an upload. */
const PART_BYTES = 8 * 1024 * 1024;
const PARALLEL_PARTS = 4;
/** S3 accepts 10,000 parts. */
const MOST_PARTS = 10_000;

interface Part {
  number: number;
  etag: string;
  checksum: string;
}

/**
 * Uploads an object: small ones with one request, others in parts of which several are sent in parallel. The object
 * appears only when it is complete. The parts of a failed upload are removed.
 */
export async function upload(
  client: S3Client,
  key: string,
  content: AsyncIterable<Uint8Array>,
  options: PutOptions & { name: string },
): Promise<void> {
  const { size } = options;
  const partBytes =
    size === undefined ? 2 * PART_BYTES : Math.max(PART_BYTES, Math.ceil(size / (MOST_PARTS - 1)));
  const source = content[Symbol.asyncIterator]();
  try {
    const parts = cut({ [Symbol.asyncIterator]: () => source }, partBytes);
    const first = await parts.next();
    const bytes = first.done === true ? new Uint8Array(0) : first.value;
    if (bytes.length < partBytes) {
      checkSize(client.label, options.name, bytes.length, size);
      await putWhole(client, key, bytes, options);
    } else await putParts(client, key, bytes, parts, options);
  } finally {
    await source.return?.();
  }
}

/** Collects chunks into parts of exactly `partBytes`, except for the last one. */
async function* cut(
  content: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  let part = new Uint8Array(Math.min(partBytes, PART_BYTES));
  let filled = 0;
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length; ) {
      if (filled === part.length && filled < partBytes)
        part = enlarge(part, Math.min(part.length * 2, partBytes));
      const some = chunk.subarray(at, at + part.length - filled);
      part.set(some, filled);
      filled += some.length;
      at += some.length;
      if (filled < partBytes) continue;
      yield part;
      part = new Uint8Array(partBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

function enlarge(part: Uint8Array, bytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes);
  larger.set(part);
  return larger;
}

async function putWhole(
  client: S3Client,
  key: string,
  body: Uint8Array<ArrayBuffer>,
  { onlyNew, signal, name }: PutOptions & { name: string },
): Promise<void> {
  const headers = { 'x-amz-checksum-crc32': checksumOf(body) };
  try {
    const condition = onlyNew === true ? { 'If-None-Match': '*' } : {};
    const { body: answer } = await client.send({
      method: 'PUT',
      key,
      headers: { ...headers, ...condition },
      body,
      signal,
    });
    answer.resume();
  } catch (error) {
    if (!(error instanceof S3Refusal)) throw error;
    if (isExisting(error)) {
      // The response of an earlier attempt may have been lost, so the object may be this one.
      if (error.attempts > 1 && (await holds(client, key, body, signal))) return;
      throw new TargetFileFault('TARGET_FILE_EXISTS', client.label, name, error);
    }
    throw error;
  }
}

async function holds(
  client: S3Client,
  key: string,
  body: Uint8Array,
  signal?: AbortSignal,
): Promise<boolean> {
  const response = await client.send({ method: 'GET', key, signal });
  let at = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    if (Buffer.compare(chunk, body.subarray(at, at + chunk.length)) !== 0) return false;
    at += chunk.length;
  }
  return at === body.length;
}

async function putParts(
  client: S3Client,
  key: string,
  first: Uint8Array<ArrayBuffer>,
  rest: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>,
  options: PutOptions & { name: string },
): Promise<void> {
  const begun = await client.sendForText({
    method: 'POST',
    key,
    query: { uploads: '' },
    headers: { 'x-amz-checksum-algorithm': 'CRC32' },
    signal: options.signal,
  });
  const id = findText(begun.text, 'UploadId');
  if (id === undefined || id === '') throw unreachable(client.label, 'S3 did not return the id of an upload');
  // The first fault stops the other parts.
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
  const running = new Set<Promise<void>>();
  const parts: Part[] = [];
  let fault: { error: unknown } | undefined;
  try {
    const send = (number: number, body: Uint8Array<ArrayBuffer>) => {
      const sent: Promise<void> = putPart(client, key, { id, number, body, signal })
        .then((part) => {
          parts.push(part);
        })
        .catch((error: unknown) => {
          fault ??= { error };
          stop.abort();
        })
        .finally(() => running.delete(sent));
      running.add(sent);
    };
    let bytes = first.length;
    let number = 1;
    send(number, first);
    for await (const body of rest) {
      bytes += body.length;
      number += 1;
      if (number > MOST_PARTS)
        throw new IdkitError('IDKIT_FAILED', `${client.label}: ${options.name} is too large for S3`);
      while (running.size >= PARALLEL_PARTS) await Promise.race(running);
      if (fault !== undefined) throw fault.error;
      options.signal?.throwIfAborted();
      send(number, body);
    }
    await Promise.all(running);
    if (fault !== undefined) throw fault.error;
    checkSize(client.label, options.name, bytes, options.size);
    await complete(
      client,
      key,
      id,
      parts.toSorted((one, other) => one.number - other.number),
      { ...options, bytes },
    );
  } catch (error) {
    stop.abort();
    await Promise.all(running);
    await abandon(client, key, id);
    throw error;
  }
}

async function putPart(
  client: S3Client,
  key: string,
  {
    id,
    number,
    body,
    signal,
  }: { id: string; number: number; body: Uint8Array<ArrayBuffer>; signal: AbortSignal },
): Promise<Part> {
  const checksum = checksumOf(body);
  const response = await client.send({
    method: 'PUT',
    key,
    query: { partNumber: String(number), uploadId: id },
    headers: { 'x-amz-checksum-crc32': checksum },
    body,
    signal,
  });
  response.body.resume();
  const etag = response.headers['etag'];
  if (typeof etag !== 'string') throw unreachable(client.label, 'S3 did not return the ETag of a part');
  return { number, etag, checksum };
}

async function complete(
  client: S3Client,
  key: string,
  id: string,
  parts: readonly Part[],
  { onlyNew, signal, name, bytes }: PutOptions & { name: string; bytes: number },
): Promise<void> {
  const rows = parts.map(
    ({ number, etag, checksum }) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>${encodeText(etag)}</ETag><ChecksumCRC32>${checksum}</ChecksumCRC32></Part>`,
  );
  const body = new TextEncoder().encode(
    `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${rows.join('')}</CompleteMultipartUpload>`,
  );
  const headers = {
    'Content-Type': 'application/xml',
    ...(onlyNew === true ? { 'If-None-Match': '*' } : {}),
  };
  try {
    const { text } = await client.sendForText({
      method: 'POST',
      key,
      query: { uploadId: id },
      headers,
      body,
      signal,
    });
    // S3 sends 200 before it joins the parts, so a fault is in the body.
    if (findText(text, 'Code') !== undefined && findText(text, 'ETag') === undefined)
      throw new S3Refusal(500, checkXml(client.label, text), {});
  } catch (error) {
    if (!(error instanceof S3Refusal)) throw error;
    if (isExisting(error)) throw new TargetFileFault('TARGET_FILE_EXISTS', client.label, name, error);
    if (error.code !== 'NoSuchUpload' || error.attempts === 1) throw error;
    // The response of an earlier attempt was lost, and that attempt may have completed the upload.
  }
  const { headers: found } = await client.send({ method: 'HEAD', key, signal });
  if (Number(found['content-length']) !== bytes)
    throw new IdkitError(
      'IDKIT_DAMAGED',
      `${client.label}: ${name} has ${String(found['content-length'])} bytes there instead of ${bytes}`,
    );
}

/** Removes the parts of a failed upload. Faults are ignored, because the first one is reported. */
async function abandon(client: S3Client, key: string, id: string): Promise<void> {
  try {
    const signal = AbortSignal.timeout(10_000);
    (await client.send({ method: 'DELETE', key, query: { uploadId: id }, signal })).body.resume();
  } catch {
    return;
  }
}

/** Reports whether `If-None-Match: *` was refused, because the object exists or is being written by another client. */
function isExisting({ status, code }: S3Refusal): boolean {
  return status === 412 || (status === 409 && code === 'ConditionalRequestConflict');
}

function checksumOf(bytes: Uint8Array): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum.toString('base64');
}
