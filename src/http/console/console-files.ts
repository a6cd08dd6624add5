import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ownDirectory } from '../../config/index.ts';

/** A file of the built console. */
export interface ConsoleFile {
  contentType: string;
  content: Buffer;
  /** The content, compressed with gzip. */
  gzipped: Buffer;
}

/** The files of the built console: its page, and the files that the page loads, by name. */
export interface ConsoleFiles {
  page: ConsoleFile;
  assets: ReadonlyMap<string, ConsoleFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html;charset=utf-8',
  js: 'text/javascript;charset=utf-8',
  css: 'text/css;charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain;charset=utf-8',
};

let files: Promise<ConsoleFiles | undefined> | undefined;

/** Reads `dist/console` on first use. Returns undefined if the console was not built. */
export function consoleFiles(): Promise<ConsoleFiles | undefined> {
  files ??= readFiles(new URL('dist/console/', ownDirectory()));
  return files;
}

async function readFiles(directory: URL): Promise<ConsoleFiles | undefined> {
  const names = await readdir(new URL('assets/', directory)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (names === undefined) return undefined;
  const assets = names.map(
    async (name): Promise<[string, ConsoleFile]> => [
      name,
      await readConsoleFile(new URL(`assets/${name}`, directory)),
    ],
  );
  return {
    page: await readConsoleFile(new URL('index.html', directory)),
    assets: new Map(await Promise.all(assets)),
  };
}

async function readConsoleFile(file: URL): Promise<ConsoleFile> {
  const { gzip } = await import('node:zlib');
  const content = await readFile(file);
  const contentType = TYPES[file.pathname.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
  return { contentType, content, gzipped: await promisify(gzip)(content, { level: 9 }) };
}
