import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { settingDocs } from '../../src/config/index.ts';
import { ERROR_CATALOGUE } from '../../src/core/index.ts';
import { listPages, root } from './pages.ts';

const pages = listPages();
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

/** Reads a page. The path is relative to docs/. */
function page(file: string): string {
  const found = pages.find((one) => one.file === `docs/${file}`);
  assert.ok(found !== undefined, `docs/${file} exists`);
  return found.text;
}

test('docs/reference/errors.md lists every error of the catalogue, and no others', () => {
  const written = [...page('reference/errors.md').matchAll(/^## (IDKIT_[A-Z_]+)$/gm)].map(
    ([, name]) => name!,
  );
  assert.deepEqual(written, Object.keys(ERROR_CATALOGUE));
});

test('every IDKIT_ name on a page is an error code or an environment variable', () => {
  const variables = settingDocs().flatMap(({ env }) => (env === undefined ? [] : [env]));
  const others = ['IDKIT_DIR', 'IDKIT_REALM', 'IDKIT_USER_PASSWORD', 'IDKIT_DATABASE_PASSWORD_FILE'];
  const login = ['PROFILE', 'ADMIN_PASSWORD_FILE', 'ADMIN_TOTP', 'ADMIN_TOTP_FILE'].map(
    (end) => `IDKIT_${end}`,
  );
  const passphrase = ['', '_FILE', '_COMMAND'].flatMap((end) => [
    `IDKIT_BACKUP_PASSPHRASE${end}`,
    `IDKIT_BACKUP_KEY_PASSPHRASE${end}`,
  ]);
  const hooks = ['', '_DUE', '_OUTCOME', '_EXIT_CODE'].map((end) => `IDKIT_JOB${end}`);
  const known = new Set([
    ...Object.keys(ERROR_CATALOGUE),
    ...variables,
    ...others,
    ...login,
    ...passphrase,
    ...hooks,
    'IDKIT_ARCHIVE_PASSWORD_FILE',
    'IDKIT_',
  ]);
  const unknown = pages.flatMap(({ file, text }) =>
    [...text.matchAll(/(?<![A-Z_])IDKIT_[A-Z_]*/g)]
      .map(([name]) => name)
      .filter((name) => !known.has(name) && !name.startsWith('IDKIT_TEST_'))
      .map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(unknown, []);
});

test('the page about dependencies has one line for each dependency, and no others', () => {
  const text = page('contributing/dependencies.md');
  const [shipped = '', bundled = '', development = ''] = text.split(/^## (?:Bundled into|For development)/m);
  const rows = /^\| (`[^|]+`) \| [^|]{4,} \| [^|]{4,} \|$/gm;
  const named = (part: string) =>
    [...part.matchAll(rows)].flatMap(([, names]) => names!.replaceAll('`', '').split(', '));
  const written = [...named(shipped), ...named(bundled), ...named(development)].sort();
  const all = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)];
  assert.deepEqual(written, all.filter((name) => !name.startsWith('@types/')).sort());
  for (const name of named(shipped)) assert.ok(name in manifest.dependencies, `${name} is shipped`);
  for (const name of named(development))
    assert.ok(name in manifest.devDependencies, `${name} is not shipped`);
});

test('every decision record has a title, the context, the choice, the rejected alternatives and the cost', () => {
  const names = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'index.md');
  assert.ok(names.length >= 20);
  const index = page('decisions/index.md');
  names.sort().forEach((name, at) => {
    assert.match(name, new RegExp(`^${String(at + 1).padStart(4, '0')}-[a-z0-9-]+\\.md$`));
    assert.ok(index.includes(`](${name})`), `the index names ${name}`);
    assert.match(
      page(`decisions/${name}`),
      /^# [^\n]+\n\n- \*\*Context:\*\* [^\n]+\n- \*\*Choice:\*\* [^\n]+\n- \*\*Rejected:\*\* [^\n]+\n- \*\*Cost:\*\* [^\n]+\n$/,
    );
  });
});

test('docs/operate/monitoring.md lists every metric of idkit, and no others', () => {
  const source = readdirSync(join(root, 'src/http/monitoring'))
    .map((name) => `src/http/monitoring/${name}`)
    .concat(
      'src/backupset/figures/archive-metrics.ts',
      'src/backupset/figures/root-metrics.ts',
      'src/procedures/status/render-metrics.ts',
    )
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');
  const built = new Set([...source.matchAll(/'(idkit_[a-z_]+)'/g)].map(([, name]) => name!));
  assert.ok(built.size > 8);
  const written = new Set(
    [...page('operate/monitoring.md').matchAll(/`(idkit_[a-z_]+)/g)].map(([, name]) => name!),
  );
  assert.deepEqual([...written].sort(), [...built].sort());
});
