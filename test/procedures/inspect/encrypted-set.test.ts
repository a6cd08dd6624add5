import assert from 'node:assert/strict';
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { generateKey } from 'openpgp';
import { type PrivateKeys, readPrivateKeyFile } from '../../../src/backupset/index.ts';
import { loadSettings } from '../../../src/config/index.ts';
import { backup, diffSets, restoreItem, showSet } from '../../../src/procedures/index.ts';
import { PASSPHRASE, procedureOptions } from '../platform.ts';
import { type ServedPlatform, servePlatform } from './served-platform.ts';

/** How the sets are encrypted, and what decrypts them. */
interface Kind {
  name: string;
  prepare(dir: string): Promise<{ setting: string; privateKeys?: PrivateKeys }>;
}

const KINDS: readonly Kind[] = [
  { name: 'with the passphrase', prepare: async () => ({ setting: '{ encrypt: all }' }) },
  {
    name: 'to a public key',
    async prepare(dir) {
      const { publicKey, privateKey } = await generateKey({
        userIDs: [{ name: 'restore' }],
        format: 'armored',
      });
      await writeFile(join(dir, 'public.asc'), publicKey);
      const file = { name: 'key.asc', bytes: Buffer.from(privateKey) };
      return {
        setting: '{ encryptTo: [public.asc] }',
        privateKeys: await readPrivateKeyFile(file, undefined),
      };
    },
  },
];

const codes = (findings: readonly { code: string }[]) => findings.map(({ code }) => code);

/** Removes the users and keys of acme that the API allows to remove. */
async function loseUsersAndKeys({ admin }: ServedPlatform): Promise<void> {
  const list = async (path: string) =>
    (await admin.call('GET', path)).body as { id: string; username?: string }[];
  for (const user of await list('/acme/users?max=100')) await admin.call('DELETE', `/acme/users/${user.id}`);
  const keys = await list('/acme/components?type=org.keycloak.keys.KeyProvider');
  for (const { id } of keys) await admin.call('DELETE', `/acme/components/${id}`);
}

for (const { name, prepare } of KINDS)
  describe(`sets encrypted ${name}`, () => {
    it('are shown, compared and put back from, and backup names the users and keys that were lost', async (t) => {
      const platform = await servePlatform(t, 'sqlite');
      const { dir, admin } = platform;
      const { setting, privateKeys } = await prepare(dir);
      await appendFile(join(dir, 'idkit.yaml'), `backup: ${setting}\n`);
      const settings = await loadSettings({ dir, env: {}, flags: { 'listen.port': '0' } });
      const options = () => ({ ...procedureOptions(), passphrase: PASSPHRASE });
      const readable = () => ({ ...options(), ...(privateKeys === undefined ? {} : { privateKeys }) });
      const first = await backup(settings, options());
      assert.deepEqual(codes(first.findings), []);
      assert.ok((await readdir(first.dir)).includes('keycloak-db.sql.gz.gpg'));

      const shown = await showSet({ ...readable(), set: first.dir });
      assert.equal(shown.realms.find(({ realm }) => realm === 'acme')?.users, 13);
      await assert.rejects(showSet({ ...procedureOptions(), set: first.dir }), { code: 'IDKIT_CREDENTIALS' });

      const [alice] = (await admin.call('GET', '/acme/users?username=alice&exact=true')).body as {
        id: string;
      }[];
      await loseUsersAndKeys(platform);
      const second = await backup(settings, options());
      assert.deepEqual(codes(second.findings), ['USERS_LOST', 'KEYS_LOST']);
      const state = join(dir, 'backups', '.state');
      for (const file of await readdir(state))
        assert.doesNotMatch(await readFile(join(state, file), 'utf8'), /acme/);

      const compared = await diffSets({ ...readable(), before: first.dir, after: second.dir });
      const removed = [...compared.differences()].filter(({ change }) => change === 'removed');
      await compared.close();
      assert.ok(removed.some(({ kind, name: user }) => kind === 'user' && user === 'alice'));
      assert.ok(removed.some(({ kind }) => kind === 'key'));

      const item = { realm: 'acme', user: 'alice' };
      const restored = await restoreItem(settings, { ...readable(), set: first.dir, admin, item });
      assert.deepEqual(restored.results, [{ action: 'created', kind: 'user', name: 'alice', id: alice!.id }]);
    });
  });
