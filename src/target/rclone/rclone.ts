import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { IdkitError } from '../../core/index.ts';
import { checkSize } from '../check-size.ts';
import type { PutOptions, Target, TargetFile } from '../contract.ts';
import { hostile, TargetFileFault } from '../faults.ts';
import type { TargetLocation } from '../location.ts';
import {
  checkListed,
  checkName,
  compareNames,
  DRAFT_PATTERN,
  draftName,
  isDraft,
  isPlainName,
  MOST_FILES,
} from '../names.ts';
import type { OpenTargetOptions } from '../open.ts';
import { createRclone, type Rclone, RcloneFailure } from './program.ts';

const STALL_MILLISECONDS = 120_000;

/** What `rclone lsjson` prints for a file. */
interface Listed {
  Path: string;
  Size: number;
  IsDir: boolean;
}

/**
 * Opens a remote of the operator's rclone, with its configuration. Each call starts one rclone process or more. A file is
 * written under a temporary name and then moved; `onlyNew` is checked before, which is not atomic.
 */
export function openRcloneTarget(
  place: Extract<TargetLocation, { kind: 'rclone' }>,
  options: OpenTargetOptions,
): Target {
  const label = `rclone:${place.remote}:${place.path}`;
  const rclone = createRclone({
    label,
    env: options.env ?? process.env,
    stallMilliseconds: options.stallMilliseconds ?? STALL_MILLISECONDS,
  });
  const pathOf = (name: string) =>
    `${place.remote}:${[place.path, name].filter((part) => part !== '').join('/')}`;
  const sizeOf = async (name: string, signal?: AbortSignal): Promise<number | undefined> => {
    checkName(name);
    return findSize(rclone, label, pathOf(name), signal);
  };
  return {
    label,
    list: (prefix, signal) => listFiles(rclone, label, { pathOf, prefix }, signal),
    async read(name, range, signal) {
      const size = await sizeOf(name, signal);
      if (size === undefined) throw new TargetFileFault('TARGET_FILE_MISSING', label, name);
      const start = Math.min(range?.start ?? 0, size);
      const length = Math.min(range?.length ?? size, size - start);
      if (length === 0) return Readable.from([], { objectMode: false });
      const part = range === undefined ? [] : ['--offset', String(start), '--count', String(length)];
      const bytes = rclone.output(['cat', ...part, '--', pathOf(name)], { signal, mostBytes: length });
      return Readable.from(exactly(label, name, bytes, length), { objectMode: false });
    },
    size: sizeOf,
    put: (name, content, given) => putFile(rclone, label, { pathOf, sizeOf, name }, content, given ?? {}),
    async remove(name, signal) {
      if ((await sizeOf(name, signal)) === undefined) return;
      await rclone.run(['deletefile', '--', pathOf(name)], { signal });
    },
    async removeDrafts(before, signal) {
      const age = Math.max(0, Math.ceil((Date.now() - before) / 1000));
      const filter = ['--min-age', `${age}s`, '--include', DRAFT_PATTERN];
      try {
        await rclone.run(['delete', ...filter, '--', pathOf('')], { signal });
      } catch (error) {
        if (!(error instanceof RcloneFailure && error.isMissing)) throw error;
      }
    },
    async close() {},
  };
}

async function* exactly(
  label: string,
  name: string,
  source: AsyncIterable<Buffer>,
  length: number,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    yield chunk;
  }
  if (bytes !== length) throw hostile(label, `${name} ended after ${bytes} of ${length} bytes`);
}

async function findSize(
  rclone: Rclone,
  label: string,
  path: string,
  signal?: AbortSignal,
): Promise<number | undefined> {
  try {
    const text = await rclone.text(['lsjson', '--stat', '--no-modtime', '--no-mimetype', '--', path], {
      signal,
    });
    const found: unknown = JSON.parse(text);
    if (found === null) return undefined;
    const { Size, IsDir } = toListed(label, found);
    return IsDir ? undefined : Size;
  } catch (error) {
    if (error instanceof RcloneFailure && error.isMissing) return undefined;
    if (error instanceof SyntaxError) throw hostile(label, 'rclone printed text that is not JSON');
    throw error;
  }
}

/** Lists the directory that contains the prefix. rclone prints no order, so the names are sorted here. */
async function* listFiles(
  rclone: Rclone,
  label: string,
  place: { pathOf(name: string): string; prefix: string },
  signal?: AbortSignal,
): AsyncGenerator<TargetFile> {
  const below = place.prefix.slice(0, place.prefix.lastIndexOf('/') + 1);
  const path = place.pathOf(below.replace(/\/$/, ''));
  const files: TargetFile[] = [];
  try {
    const args = ['lsjson', '--recursive', '--files-only', '--no-modtime', '--no-mimetype', '--', path];
    for await (const line of rclone.lines(args, { signal })) {
      const text = line.replace(/^\[|[,\]]$/g, '').trim();
      if (text === '') continue;
      const { Path, Size, IsDir } = toListed(label, JSON.parse(text));
      const name = `${below}${Path}`;
      if (IsDir || isDraft(name) || !name.startsWith(place.prefix)) continue;
      if (/(?:^|\/)\.\.?(?:\/|$)|^\/|\0/.test(Path)) checkListed(label, Path);
      if (!isPlainName(name)) continue;
      files.push({ name, size: Size });
      if (files.length > MOST_FILES) throw hostile(label, `it has more than ${MOST_FILES} files`);
    }
  } catch (error) {
    if (error instanceof SyntaxError) throw hostile(label, 'rclone printed text that is not JSON');
    if (!(error instanceof RcloneFailure && error.isMissing)) throw error;
  }
  files.sort((one, other) => compareNames(one.name, other.name));
  for (const [index, file] of files.entries()) {
    if (files[index - 1]?.name === file.name) throw hostile(label, 'it lists a name twice');
    yield file;
  }
}

function toListed(label: string, value: unknown): Listed {
  if (typeof value === 'object' && value !== null && 'Path' in value && 'Size' in value) {
    const { Path, Size } = value;
    const isDirectory = 'IsDir' in value && value.IsDir === true;
    if (
      typeof Path === 'string' &&
      typeof Size === 'number' &&
      (isDirectory || (Number.isSafeInteger(Size) && Size >= 0))
    )
      return { Path, Size, IsDir: isDirectory };
  }
  throw hostile(label, 'rclone listed a file without a name or a size');
}

async function putFile(
  rclone: Rclone,
  label: string,
  place: {
    name: string;
    pathOf(name: string): string;
    sizeOf(name: string, signal?: AbortSignal): Promise<number | undefined>;
  },
  content: AsyncIterable<Uint8Array>,
  { size, onlyNew, signal }: PutOptions,
): Promise<void> {
  const { name, pathOf, sizeOf } = place;
  const exists = async () => {
    if (onlyNew === true && (await sizeOf(name, signal)) !== undefined)
      throw new TargetFileFault('TARGET_FILE_EXISTS', label, name);
  };
  checkName(name);
  await exists();
  const draft = draftName(name, randomBytes(8).toString('hex'));
  let bytes = 0;
  const counted = async function* () {
    for await (const chunk of content) {
      signal?.throwIfAborted();
      bytes += chunk.length;
      yield chunk;
    }
    // rclone must not see the end of a file that is not complete.
    checkSize(label, name, bytes, size);
  };
  const known = size === undefined ? [] : ['--size', String(size)];
  try {
    await rclone.run(['rcat', ...known, '--', pathOf(draft)], { input: counted(), signal });
    const arrived = await sizeOf(draft, signal);
    if (arrived !== bytes)
      throw new IdkitError(
        'IDKIT_DAMAGED',
        `${label}: ${name} has ${arrived ?? 0} bytes there instead of ${bytes}`,
      );
    await exists();
    await rclone.run(['moveto', '--', pathOf(draft), pathOf(name)], { signal });
  } catch (error) {
    await rclone
      .run(['deletefile', '--', pathOf(draft)], { signal: AbortSignal.timeout(20_000) })
      .catch(() => {});
    throw error;
  }
}
