import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRealmFiles } from '../../src/admin/import/realm-files.ts';
import { openRealmDirectory } from '../../src/service/realm-directory.ts';
import { makeDirectory } from '../procedures/platform.ts';

function read(dir: string): ReturnType<typeof readRealmFiles> {
  const log = { info: () => {}, warn: () => {} };
  return readRealmFiles(openRealmDirectory(dir, log, { remove: false }), () => undefined);
}

test('rejects a FIFO among the realm files without blocking, but follows a link to a file', async (t) => {
  const dir = await makeDirectory(t, 'import');
  const elsewhere = await makeDirectory(t, 'elsewhere');
  const file = join(dir, 'acme.json');
  await writeFile(join(elsewhere, 'acme.json'), '{"realm":"acme"}');
  await symlink(join(elsewhere, 'acme.json'), file);
  const [found] = await read(dir);
  assert.equal(found?.realm, 'acme');

  const refused = { code: 'IDKIT_IMPORT', message: `${file} cannot be read` };
  execFileSync('mkfifo', [join(elsewhere, 'fifo')]);
  await rm(file);
  await symlink(join(elsewhere, 'fifo'), file);
  await assert.rejects(read(dir), refused);
  await rename(join(elsewhere, 'fifo'), file);
  await assert.rejects(read(dir), refused);
});

test('rejects a realm file that is nested too deeply, and names it', async (t) => {
  const dir = await makeDirectory(t, 'import');
  const file = join(dir, 'acme.json');
  const text = `{"realm":"acme","attributes":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  await writeFile(file, text);
  await assert.rejects(read(dir), {
    code: 'IDKIT_IMPORT',
    message: `${file}: it is nested deeper than 200 levels`,
  });
});
