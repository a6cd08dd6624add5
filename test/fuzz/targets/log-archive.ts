import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLogName } from '../../../src/archive/format/names.ts';
import { openFile } from '../../../src/archive/format/sealed-file.ts';
import {
  ArchiveReader,
  ChainWriter,
  chainName,
  checkArchive,
  deriveArchiveKeys,
  listChains,
  planRecovery,
  readBaseName,
} from '../../../src/archive/index.ts';
import { Secret } from '../../../src/core/index.ts';
import { type FuzzTarget, reading, unwrap } from '../target.ts';
import { MemoryTarget } from './memory-target.ts';

/** The key that sealed the files of the corpus. */
const KEYS = deriveArchiveKeys(new Secret(Buffer.alloc(32, 7).toString('base64')));
const CHAINS = [chainName(1_000_000, '0badcafe'), chainName(2_000_000, '0badcafe')] as const;

/** The files of the corpus: each has the position of its name in this list, and then the bytes of the file. */
const NAMES = [
  'chain',
  'base-00000001-00000001',
  'base-00000001-end',
  'log-00000001-00000001-19700101T000001.000Z',
];
const GOOD = NAMES.map((_, index) =>
  readFileSync(join(import.meta.dirname, `../corpus/archive-file/good-${index}`)).subarray(1),
);

const JSON_WORDS = ['{', '}', '[', ']', '"', ':', ',', 'null', '-1', '1e999', '0.5', '__proto__'];
const FIELDS = [
  '"format":',
  '"kind":"log"',
  '"base":',
  '"number":',
  '"previous":',
  '"size":',
  '"bytes":',
  '"marks":',
];

/** A file of an archive: it opens as it was written or not at all, and its name is that under which it was written. */
export const archiveFileTarget: FuzzTarget = {
  name: 'archive-file',
  covers: ['src/archive/format/'],
  dictionary: [...JSON_WORDS, ...FIELDS, ',"mac":"', '"}\n', '\n', ...NAMES],
  refusals: ['IDKIT_DAMAGED', 'IDKIT_MASTER_KEY_WRONG'],
  seeds: () => [],
  async run(input) {
    const index = (input[0] ?? 0) % NAMES.length;
    const path = `${CHAINS[0]}/${NAMES[index]}`;
    const bytes = Buffer.from(input.subarray(1));
    const opened = await reading(() => openFile(KEYS, path, bytes));
    if ('value' in opened) assert.deepEqual(bytes, GOOD[index], 'a changed file opens');
    await readAuthentic(path, bytes);
    unwrap(opened);
  },
};

/** Reads the file as if the platform's key had sealed its first line: a newer idkit may have. */
async function readAuthentic(path: string, bytes: Buffer): Promise<void> {
  const end = bytes.indexOf('\n');
  const text = /^(.+),"mac":"[^"]*"\}$/s.exec(bytes.toString('utf8', 0, Math.max(0, end)))?.[1];
  if (text === undefined || !isJson(`${text}}`)) return;
  const mac = createHmac('sha256', KEYS.mac).update(text).digest('hex');
  const target = new MemoryTarget([
    [path, Buffer.concat([Buffer.from(`${text},"mac":"${mac}"}\n`), bytes.subarray(end + 1)])],
    ...(path.endsWith('/chain') ? [] : [[`${CHAINS[0]}/chain`, GOOD[0]!] as const]),
  ]);
  const opened = await reading(() => openFile(KEYS, path, target.files.get(path)!));
  if (!('value' in opened)) return;
  const { header, content } = opened.value;
  assert.equal(`${header.chain}/${header.name}`, path);
  assert.equal(content.length, header.bytes);
  await checkArchive(target, KEYS, undefined);
  await reading(async () =>
    planRecovery(new ArchiveReader(target, KEYS), await listChains(target), { at: 2000 }),
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What the log and the bases of the archive below contain. */
const LOG = ['one', 'two', 'three', 'four', 'five'];
const BASES = [['first part', 'second part'], ['all of it']];

/** Makes an archive of two chains. The second one follows the first one without a gap. */
async function makeArchive(): Promise<MemoryTarget> {
  const target = new MemoryTarget();
  let follows: string | null = null;
  for (const chain of CHAINS) {
    const writer = await ChainWriter.begin(target, KEYS, chain, { kind: 'sqlite', follows, complete: true });
    const begin = CHAINS.indexOf(chain) * 1_000_000;
    for (const [index, word] of LOG.entries()) {
      const base = index % 2 === 0 ? BASES[index / 2] : undefined;
      const from = { generation: 1, after: writer.end.log };
      const at = begin + index * 1000;
      const marks = [{ at, position: index + 1 }];
      const part = { generation: 1, start: index, content: Buffer.from(word), marks, until: at };
      await writer.putLog(writer.sealLog(part));
      if (base === undefined) continue;
      const parts = writer.beginBase();
      for (const content of base) await parts.put(Buffer.from(content));
      await parts.end(from, { at, position: index + 1, generation: 1 });
    }
    follows = chain;
  }
  return target;
}

const ARCHIVE = await makeArchive();
const PATHS = [...ARCHIVE.files.keys()].sort();

/** The largest number of files that a hostile target of an input has. */
const MOST_FILES = 64;

/**
 * A hostile target with real files of an archive. Each line of the input is `NAME`, `NAME<TAB>FILE` to give a file another
 * name, or `NAME<TAB>FILE<TAB>BYTES` to cut it off; FILE is a position in the list of files. Whatever it hides, renames or
 * repeats: what is read is a piece of what was written, in order.
 */
export const archiveListingTarget: FuzzTarget = {
  name: 'archive-listing',
  covers: ['src/archive/'],
  dictionary: [
    '\n',
    '\t',
    '/',
    ...CHAINS,
    ...PATHS,
    ...PATHS.map((_, file) => `\t${file}`),
    '\t0',
    '/chain',
    '../',
  ],
  refusals: ['IDKIT_DAMAGED', 'IDKIT_NOT_FOUND', 'IDKIT_MASTER_KEY_WRONG'],
  isSlow: true,
  seeds: () =>
    [
      PATHS,
      PATHS.filter((path) => path.startsWith(CHAINS[0])),
      PATHS.filter((path) => !path.includes('log-')),
      PATHS.map((path, file) => `${path.replace(/(?<=log-.*)00Z/, '01Z')}\t${file}`),
    ].map((lines) => Buffer.from(lines.join('\n'))),
  async run(input) {
    const target = hostile(Buffer.from(input).toString('latin1'));
    const listings = await listChains(target);
    const reader = new ArchiveReader(target, KEYS);
    for (const listing of listings) {
      for (const file of listing.files.keys())
        assert.ok(
          file === 'chain' || readBaseName(file) !== undefined || readLogName(file) !== undefined,
          file,
        );
      const log: string[] = [];
      await reading(async () => {
        const [first] = listing.logs[0]?.number === 1 ? [] : await reader.bases(listing);
        for await (const { content } of reader.log(listing, first?.after)) log.push(content.toString());
      });
      assert.ok(LOG.join().includes(log.join()), `log: ${log.join()}`);
      const ends = await reading(() => reader.bases(listing));
      for (const { base } of 'value' in ends ? ends.value : []) {
        const parts: string[] = [];
        const whole = await reading(async () => {
          for await (const part of reader.base(listing, base)) parts.push(part.toString());
        });
        const written = BASES[base - 1]!;
        assert.deepEqual(parts, written.slice(0, parts.length));
        if ('value' in whole) assert.equal(parts.length, written.length);
      }
    }
    const { problems } = await checkArchive(target, KEYS, undefined);
    if (problems.length === 0)
      for (const [path, bytes] of target.files)
        if (path.includes('/')) assert.deepEqual(bytes, ARCHIVE.files.get(path), path);
    const { mark, base } = await planRecovery(reader, listings, { at: 1_003_500 });
    assert.equal(mark.at % 1_000_000, (mark.position - 1) * 1000);
    assert.ok(base.first.position <= mark.position);
  },
};

function hostile(text: string): MemoryTarget {
  const files = new Map<string, Buffer>();
  for (const line of text.split('\n').slice(0, MOST_FILES)) {
    const [name = '', file, length] = line.split('\t');
    const path = file === undefined ? name : PATHS[Number(file)];
    const bytes = ARCHIVE.files.get(path ?? '');
    // No target lists such names.
    if (name === '' || name.split('/').some((part) => part === '' || /^\.\.?$/.test(part))) continue;
    files.set(
      name,
      bytes?.subarray(0, length === undefined ? bytes.length : Number(length)) ?? Buffer.from(line),
    );
  }
  return new MemoryTarget(files);
}
