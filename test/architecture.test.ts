import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { renderDefinitions } from '../src/store/migrations/compile-definitions.ts';

// The map of the rooms. Imports go downward only, never sideways, and always through a door.

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

interface Room {
  floor: number;
  /** Lower rooms that the room must not import, although its floor would allow it. */
  never: readonly string[];
  /** Rooms on the same floor that the room may import as an exception. */
  sideways: readonly string[];
}

const ROOMS: Record<string, Room> = {
  core: { floor: 0, never: [], sideways: [] },
  files: { floor: 0, never: [], sideways: ['core'] },
  model: { floor: 1, never: ['files'], sideways: [] },
  crypto: { floor: 1, never: ['files'], sideways: ['model'] },
  config: { floor: 1, never: [], sideways: ['model'] },
  backupset: { floor: 1, never: [], sideways: [] },
  client: { floor: 1, never: [], sideways: [] },
  postgres: { floor: 1, never: [], sideways: ['config'] },
  target: { floor: 1, never: [], sideways: [] },
  archive: {
    floor: 2,
    never: ['model', 'crypto', 'client', 'config', 'backupset', 'postgres'],
    sideways: [],
  },
  store: { floor: 2, never: [], sideways: [] },
  pgtools: { floor: 2, never: ['model', 'crypto', 'client'], sideways: [] },
  protocol: { floor: 3, never: ['files', 'postgres', 'pgtools', 'target', 'archive'], sideways: [] },
  browser: { floor: 3, never: ['files', 'postgres', 'pgtools', 'target', 'archive'], sideways: ['protocol'] },
  admin: { floor: 3, never: ['files', 'postgres', 'pgtools', 'target', 'archive'], sideways: [] },
  http: { floor: 4, never: ['files', 'postgres', 'pgtools', 'target', 'archive'], sideways: [] },
  console: {
    floor: 4,
    never: [
      'core',
      'files',
      'model',
      'crypto',
      'config',
      'backupset',
      'client',
      'postgres',
      'target',
      'archive',
      'store',
      'pgtools',
      'protocol',
      'browser',
      'admin',
    ],
    sideways: [],
  },
  service: { floor: 5, never: ['postgres', 'pgtools', 'console'], sideways: [] },
  platform: { floor: 6, never: ['protocol', 'browser', 'http', 'console'], sideways: [] },
  procedures: {
    floor: 7,
    never: [
      'postgres',
      'store',
      'pgtools',
      'http',
      'console',
      'protocol',
      'browser',
      'admin',
      'crypto',
      'model',
      'service',
    ],
    sideways: [],
  },
  cli: {
    floor: 8,
    never: [
      'model',
      'crypto',
      'postgres',
      'archive',
      'store',
      'pgtools',
      'protocol',
      'browser',
      'admin',
      'http',
      'console',
    ],
    sideways: [],
  },
};

/** Doors in addition to `index.ts`. Through them, other rooms reach concrete implementations. */
const DOORS: Record<string, readonly string[]> = {
  postgres: ['driver.ts'],
  store: ['open.ts'],
  platform: ['open.ts'],
  /** Rooms inside a room, each with its own index. */
  protocol: [
    'claims/index.ts',
    'client/index.ts',
    'keys/index.ts',
    'login/index.ts',
    'profile/index.ts',
    'session/index.ts',
    'token/index.ts',
  ],
};

/** The modules of Node.js that a room may import. A room without an entry may import all of them. */
const NODE_MODULES: Record<string, readonly string[]> = {
  core: ['node:async_hooks', 'node:crypto', 'node:util'],
  model: [],
  protocol: ['node:crypto', 'node:buffer', 'node:net', 'node:util'],
  browser: ['node:crypto', 'node:buffer', 'node:net', 'node:util'],
  admin: ['node:crypto', 'node:buffer', 'node:net', 'node:util'],
};

interface Import {
  /** Path relative to the checkout. */
  file: string;
  specifier: string;
}

/** Returns the reason why the map forbids an import, or undefined if it is allowed. */
function explainFault({ file, specifier }: Import): string | undefined {
  const [, from] = /^src\/([^/]+)\//.exec(file) ?? [];
  if (from === undefined || ROOMS[from] === undefined) return `${file} lies in no room`;
  if (specifier.startsWith('node:')) {
    const allowed = NODE_MODULES[from];
    return allowed === undefined || allowed.includes(specifier)
      ? undefined
      : `${from} must not know ${specifier}`;
  }
  if (!specifier.startsWith('.')) return undefined;
  if (!/\.(tsx?|js|json|css)$/.test(specifier)) return `${specifier} has no extension`;
  const target = join(dirname(file), specifier);
  const [, to, inside] = /^src\/([^/]+)\/(.+)$/.exec(target) ?? [];
  if (to === undefined || inside === undefined) return `${target} lies outside src`;
  if (to === from) return undefined;
  const [upper, lower] = [ROOMS[from], ROOMS[to]];
  if (lower === undefined) return `${target} lies in no room`;
  if (lower.floor > upper.floor)
    return `${from} (floor ${upper.floor}) reaches up to ${to} (floor ${lower.floor})`;
  if (lower.floor === upper.floor && !upper.sideways.includes(to)) return `${from} reaches sideways to ${to}`;
  if (upper.never.includes(to)) return `${from} must not know ${to}`;
  if (inside !== 'index.ts' && !DOORS[to]?.includes(inside))
    return `${from} passes by the door of ${to}: ${inside}`;
  return undefined;
}

/** Finds every import in a source text: static and dynamic imports, re-exports, and imports in types. */
function findImports(file: string, text: string): readonly Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const patterns = [
    /\b(?:import|export)\s+(?:type\s+)?[^'"`;()]*?\bfrom\s*['"]([^'"]+)['"]/g,
    /\bimport\s*['"]([^'"]+)['"]/g,
    /\bimport\s*\(\s*['"`]([^'"`]+)['"`]\s*\)/g,
  ];
  return patterns.flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => ({ file, specifier: match[1]! })),
  );
}

function listSources(dir: string): readonly string[] {
  return readdirSync(join(root, dir), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(tsx?|js|mjs)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

const sources = listSources('src');

test('every import goes downward through a door (docs/architecture.md)', () => {
  const imports = sources.flatMap((file) => findImports(file, readFileSync(join(root, file), 'utf8')));
  assert.ok(imports.length > 100, 'the walk found the imports');
  const faults = imports.flatMap((found) => {
    const fault = explainFault(found);
    return fault === undefined ? [] : [`${found.file}: ${fault}`];
  });
  assert.deepEqual(faults, []);
});

test('a folder in protocol or http that has an index is imported only through that index', () => {
  const folders = new Set(
    sources
      .filter((file) => /^src\/(protocol|http)\/.+\/index\.ts$/.test(file))
      .map((file) => `${dirname(file)}/`),
  );
  assert.ok(folders.size >= 5);
  const faults = sources.flatMap((file) =>
    findImports(file, readFileSync(join(root, file), 'utf8')).flatMap(({ specifier }) => {
      const target = specifier.startsWith('.') ? join(dirname(file), specifier) : '';
      const folder = `${dirname(target)}/`;
      const passesBy = folders.has(folder) && !file.startsWith(folder) && !target.endsWith('/index.ts');
      return passesBy ? [`${file}: ${specifier}`] : [];
    }),
  );
  assert.deepEqual(faults, []);
});

/** The rooms that handle requests. Other rooms may contain status codes, because they read responses of services. */
const ANSWERING_ROOMS = /^src\/(protocol|browser|admin|service|http)\//;

/** The files that contain the tables of status codes. */
const STATUS_TABLES: readonly string[] = [
  'src/http/responses/statuses.ts',
  'src/http/responses/wire-errors.ts',
];

/**
 * Patterns for a status code in a source: in a field, a comparison, an argument, a conditional expression or a text.
 */
const STATUS_PATTERNS: readonly RegExp[] = [
  /\bstatus(?:Code)?\b['"]?\??\s*(?:[:=]|[=!]==|[<>]=?)\s*[1-5]\d\d\b/,
  /\.code\(\s*[1-5]\d\d\b/,
  /\b(?:reply|request)\b,\s*[1-5]\d\d\b/,
  /\bredirect\(.*,\s*[1-5]\d\d\)/,
  /\?\s*[1-5]\d\d\s*:\s*[1-5]\d\d\b/,
  /\bHTTP [1-5]\d\d\b/,
];

/** Returns the lines of a source that contain a status code, except in comments. */
function findStatuses(file: string, text: string): readonly string[] {
  if (!ANSWERING_ROOMS.test(file) || STATUS_TABLES.includes(file)) return [];
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');
  return code.split('\n').filter((line) => STATUS_PATTERNS.some((pattern) => pattern.test(line)));
}

test('every HTTP status code is in a table of the HTTP room (docs/architecture.md)', () => {
  const faults = sources.flatMap((file) =>
    findStatuses(file, readFileSync(join(root, file), 'utf8')).map((line) => `${file}: ${line.trim()}`),
  );
  assert.deepEqual(faults, []);
});

test('the check for status codes finds each form of a status code and ignores other numbers', () => {
  for (const line of [
    '{ status: 404 }',
    'status = 400',
    'if (answer.statusCode >= 500) return;',
    'reply.code(204).send()',
    'return sendEmpty(reply, 200, answer);',
    'return reply.redirect(url, 302);',
    'verdict ? 204 : 403',
    "{ error: 'HTTP 401 Unauthorized' }",
  ])
    assert.equal(findStatuses('src/admin/a.ts', line).length, 1, line);
  for (const line of ['const BATCH = 500;', '// 404 for a missing record', 'mode: 0o600, retries: 120'])
    assert.deepEqual(findStatuses('src/protocol/a.ts', line), [], line);
  assert.deepEqual(findStatuses('src/client/a.ts', 'if (response.status === 401)'), []);
});

test('the check for imports finds each kind of forbidden import', () => {
  const cases: [file: string, text: string, fault: RegExp][] = [
    ['src/model/realm.ts', "import { x } from '../store/index.ts';", /reaches up to store/],
    ['src/protocol/grants.ts', "import { x } from '../admin/index.ts';", /sideways to admin/],
    ['src/procedures/backup/a.ts', "import type { x } from '../../store/index.ts';", /must not know store/],
    ['src/cli/a.ts', "const x = await import('../http/index.ts');", /must not know http/],
    ['src/cli/a.ts', "export { x } from '../config/load.ts';", /passes by the door of config/],
    ['src/cli/a.ts', "let a: import('../store/open.ts').Store;", /must not know store/],
    ['src/core/a.ts', "import { readFileSync } from 'node:fs';", /must not know node:fs/],
    ['src/http/a.ts', "import '../../test/x.ts';", /outside src/],
  ];
  for (const [file, text, fault] of cases) {
    const [found] = findImports(file, text);
    assert.ok(found !== undefined, `the import of ${text} is found`);
    assert.match(explainFault(found) ?? 'allowed', fault);
  }
});

test('the check for imports accepts every import that the map allows', () => {
  const cases: [file: string, text: string][] = [
    ['src/cli/a.ts', "import { x } from '../procedures/index.ts';"],
    ['src/cli/a.ts', "await import('../platform/open.ts');"],
    ['src/crypto/a.ts', "import type { x } from '../model/index.ts';"],
    ['src/store/sqlite/a.ts', "import { x } from '../contract/index.ts';"],
  ];
  for (const [file, text] of cases) assert.equal(explainFault(findImports(file, text)[0]!), undefined);
});

test('the map of the rooms in docs/architecture.md matches the table of this test', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d) \| `src\/([a-z]+)\/` \| [^|]+ \| ([^|]+) \|$/gm)];
  const written = Object.fromEntries(
    rows.map(([, floor, room, imports]) => [room, { floor: Number(floor), imports: imports!.trim() }]),
  );
  const built = Object.fromEntries(
    Object.entries(ROOMS)
      .filter(([room]) => sources.some((file) => file.startsWith(`src/${room}/`)))
      .map(([room, { floor }]) => [room, { floor, imports: mayImport(room) }]),
  );
  assert.deepEqual(written, built);
});

/** Returns the rooms that a room may import, as docs/architecture.md lists them. */
function mayImport(room: string): string {
  const { floor, never, sideways } = ROOMS[room]!;
  const allowed = Object.entries(ROOMS)
    .filter(
      ([name, other]) => sources.some((file) => file.startsWith(`src/${name}/`)) && other.floor <= floor,
    )
    .filter(([name, other]) => other.floor < floor || sideways.includes(name))
    .filter(([name]) => name !== room && !never.includes(name))
    .map(([name]) => name);
  return allowed.length === 0 ? 'nothing' : allowed.join(', ');
}

test('the index of every room begins with a description of the room (docs/architecture.md)', () => {
  const rooms = new Set(sources.map((file) => file.split('/')[1]!));
  for (const room of rooms) {
    const lines = readFileSync(join(root, 'src', room, 'index.ts'), 'utf8').split('\n');
    const header = lines.slice(
      0,
      lines.findIndex((line) => !line.startsWith('//')),
    );
    assert.ok(header.length >= 2 && header.length <= 12, `${room}/index.ts has 2 to 12 lines of header`);
    assert.match(header[0]!, /^\/\/ [A-Z][^:]*: ./, `${room}/index.ts says what it is`);
    assert.match(header.join('\n'), /Must not know:/, `${room}/index.ts says what it must not know`);
    const statements = lines
      .slice(header.length)
      .join('\n')
      .replace(/\/\*[\s\S]*?\*\//g, '');
    assert.match(
      statements,
      /^\s*(export\s+(type\s+)?(\{[^}]*\}|\*)\s+from\s+'[^']+';\s*|\/\/[^\n]*\s*)*$/,
      `${room}/index.ts only exports`,
    );
  }
});

test('no file is longer than 400 lines, and most are under 150 (docs/architecture.md)', () => {
  const lengths = [...sources, ...listSources('test'), ...listSources('bin')]
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
    // Generated files do not count: people read the program that writes them.
    .filter(({ text }) => !/^\/\/ Written by `node /.test(text))
    .map(({ file, text }) => ({ file, lines: text.split('\n').length - 1 }));
  assert.deepEqual(
    lengths.filter(({ lines }) => lines > 400).map(({ file, lines }) => `${file}: ${lines} lines`),
    [],
  );
  const short = lengths.filter(({ lines }) => lines < 150).length;
  assert.ok(short * 2 > lengths.length, `${short} of ${lengths.length} files are under 150 lines`);
});

test('the table of definitions in an embedded dump matches the migrations (node src/store/migrations/compile-definitions.ts)', () => {
  const table = readFileSync(join(root, 'src/backupset/dump/sqlite/definitions.ts'), 'utf8');
  assert.equal(table, renderDefinitions());
});

test('file names are in kebab-case, and none is a catch-all such as utils or helpers (docs/architecture.md)', () => {
  const names = [...sources, ...listSources('test')].map((file) => file.split('/').at(-1)!);
  const bad = names.filter(
    (name) =>
      !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.(tsx?|js|mjs)$/.test(name) ||
      /^(utils?|helpers?|manager|common|misc)\./.test(name),
  );
  assert.deepEqual(bad, []);
});

test('docs/architecture.md explains every file and folder in the top folder', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const ignored = new Set(
    [...readFileSync(join(root, '.gitignore'), 'utf8').split('\n')].map((line) => line.replace(/\//g, '')),
  );
  const expected = [
    'README.md',
    'LICENSE',
    'SECURITY.md',
    'biome.json',
    'bin',
    'examples',
    'package-lock.json',
    'package.json',
    'src',
    'test',
    'tsconfig.json',
  ];
  const rest = readdirSync(root).filter(
    (name) =>
      !name.startsWith('.') && !expected.includes(name) && !ignored.has(name) && !name.endsWith('.tgz'),
  );
  for (const name of rest)
    assert.ok(page.includes(`\`${name}\``) || page.includes(`\`${name}/\``), `the page explains ${name}`);
});
