import assert from 'node:assert/strict';
import {
  parseChecksums,
  parseManifest,
  renderChecksums,
  renderManifest,
} from '../../../src/backupset/index.ts';
import {
  loadSettings,
  nextCronTime,
  parseCron,
  parseEnvContent,
  plannedJobs,
  previousCronTime,
  renderEnvValue,
} from '../../../src/config/index.ts';
import type { FuzzTarget } from '../target.ts';

const HASH = 'a'.repeat(64);
const NOW = Date.parse('2026-11-25T10:00:30Z');

/** `checksums.sha256`: every name is a plain file name, and the list survives a round trip. */
export const checksumsTarget: FuzzTarget = {
  name: 'checksums',
  covers: ['backupset/set/checksums.ts'],
  dictionary: ['  ', ' *', './', '../', '/', '\r\n', '\\', '#', HASH, 'checksums.sha256', '\0'],
  refusals: ['IDKIT_DAMAGED'],
  seeds: () => [Buffer.from(`${HASH}  a.gz\n${HASH.toUpperCase()} *./b\r\n# comment\n`)],
  run(input) {
    const entries = parseChecksums(input);
    for (const { name, sha256 } of entries) {
      assert.match(sha256, /^[0-9a-f]{64}$/);
      assert.ok(name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name), JSON.stringify(name));
    }
    const sorted = (list: typeof entries) => [...list].sort((a, b) => (a.name < b.name ? -1 : 1));
    // A name that begins with a space or an asterisk reads as another one, as in coreutils.
    if (entries.some(({ name }) => /^[ *]|^\.\/|\n/.test(name))) return;
    assert.deepEqual(sorted(parseChecksums(Buffer.from(renderChecksums(entries)))), sorted(entries));
  },
};

/** `manifest.json`: what is accepted survives a round trip. */
export const manifestTarget: FuzzTarget = {
  name: 'manifest',
  covers: ['backupset/set/manifest.ts'],
  dictionary: [
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    'null',
    'true',
    '-1',
    '1e999',
    '__proto__',
    '"formatVersion":2',
    '"sealed":true',
    '\\u0000',
  ],
  refusals: ['IDKIT_DAMAGED', 'IDKIT_VERSION'],
  seeds: () => [
    Buffer.from(
      JSON.stringify({
        formatVersion: 2,
        idkitVersion: '1.0.0',
        startedAt: '2026-11-25T02:00:00.000Z',
        parts: ['database', 'env'],
        sealed: true,
        service: { kind: 'idkit', version: '1.0.0' },
        database: { kind: 'sqlite', version: '3.50', schemaVersion: 1, bytes: 1 },
        realms: [{ realm: 'master', users: 1, file: 'realm-master.json' }],
        files: { 'env.gpg': 3 },
        steps: [],
      }),
    ),
  ],
  run(input) {
    const manifest = parseManifest(input);
    assert.deepEqual(parseManifest(Buffer.from(renderManifest(manifest))), manifest);
  },
};

/** `.env`: every value survives a round trip, and no message has a value. */
export const envTarget: FuzzTarget = {
  name: 'env',
  covers: ['config/environment/'],
  dictionary: ['=', '"', "'", '`', '\\n', '\\"', '#', 'export ', '\r\n', '\uFEFF', 'IDKIT_MASTER_KEY=', '\0'],
  refusals: ['IDKIT_SETTING'],
  seeds: () => [
    Buffer.from(
      '# comment\nexport A=b\nB="x\\ny"\nC=\'a b\'\nD=`a\nb`\nIDKIT_ADMIN_USERNAME=admin # the first\nE=\n',
    ),
  ],
  run(input) {
    const values = parseEnvContent(input, '.env');
    for (const [name, value] of values) {
      // No quotes can hold all three quotes at once with a line end.
      if (/[`\n\r]/.test(value) && /["'\\]/.test(value)) continue;
      assert.equal(
        parseEnvContent(Buffer.from(`${name}=${renderEnvValue(value)}\n`), '.env').get(name),
        value,
      );
    }
  },
};

/** `idkit.yaml`: settings or a refusal, in bounded time, and without the values of hidden settings in messages. */
export const yamlTarget: FuzzTarget = {
  name: 'yaml',
  covers: ['config/yaml/', 'config/settings/', 'config/schedule/'],
  dictionary: [
    ': ',
    '- ',
    '\n  ',
    '&a ',
    '*a',
    '!!js/function ',
    '<<: ',
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    '|\n',
    '>-\n',
    '---\n',
    '? ',
    '%YAML 1.1\n',
    '.inf',
    '0x10',
    'listen:',
    'backup:',
    'schedule:',
    'pings:',
    'hooks:',
    'database:',
    'null',
    '__proto__:',
    'constructor:',
  ],
  refusals: ['IDKIT_SETTING', 'IDKIT_USAGE'],
  seeds: () => [
    Buffer.from(
      'runtime: embedded\nlisten: { port: 8081, host: "::1" }\nbackup:\n  root: /b\n  keepDays: 3\nschedule:\n  database: "0 2 * * mon-fri"\n  pings:\n    start: https://x.example/{job}\n  hooks: { before: [a, b], seconds: 3 }\napplications: [{ name: a, health: "http://x" }]\nrealms: [a, b]\n',
    ),
  ],
  async run(input) {
    const settings = await loadSettings({
      dir: '/nowhere',
      env: {},
      contents: {
        yaml: { file: 'idkit.yaml', bytes: input },
        env: { file: '.env', bytes: Buffer.alloc(0) },
      },
    });
    for (const { cron } of plannedJobs(settings)) assert.ok(nextCronTime(cron, NOW, 'UTC') !== undefined);
    assert.equal(Object.getPrototypeOf(settings), Object.prototype);
  },
};

/** Cron lines: times match their expression, and the next and the previous time agree. */
export const cronTarget: FuzzTarget = {
  name: 'cron',
  covers: ['config/schedule/cron.ts'],
  dictionary: [
    '*',
    '/',
    ',',
    '-',
    ' ',
    '@daily',
    'mon',
    'jan',
    '29 2',
    '31',
    '0',
    '7',
    '59',
    '*/0',
    '99999999999999999999',
  ],
  refusals: [],
  seeds: () =>
    ['0 2 * * *', '*/7 1-5,9 1,15 jan-mar mon', '@weekly', '0 0 29 2 *', '0 0 13 * fri'].map((text) =>
      Buffer.from(text),
    ),
  run(input) {
    const expression = Buffer.from(input).toString('utf8');
    const times = parseCron(expression);
    const next = nextCronTime(expression, NOW, 'UTC');
    if (times === undefined) {
      assert.equal(next, undefined);
      return;
    }
    if (next === undefined) return;
    const date = new Date(next);
    assert.ok(
      next > NOW && times.minutes.includes(date.getUTCMinutes()) && times.hours.includes(date.getUTCHours()),
    );
    assert.ok(times.months.has(date.getUTCMonth() + 1));
    assert.ok(times.days.has(date.getUTCDate()) || times.weekdays.has(date.getUTCDay()));
    assert.equal(previousCronTime(expression, next), next);
    const before = previousCronTime(expression, next - 1);
    if (before !== undefined) {
      assert.ok(before <= NOW, 'a time lies between the previous and the next one');
      assert.equal(nextCronTime(expression, before, 'UTC'), next);
    }
  },
};
