import assert from 'node:assert/strict';
import { appendFile, cp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Difference } from '../../../src/backupset/index.ts';
import { diffSets, showSet } from '../../../src/procedures/index.ts';
import { missingPostgres } from '../../store/postgres-server.ts';
import { copyKeycloakSet, makeDirectory, PASSPHRASE, procedureOptions } from '../platform.ts';
import { rewriteDump } from './rewrite-dump.ts';
import { type ServedPlatform, servePlatform } from './served-platform.ts';

const code = (name: string) => (error: unknown) => (error as { code?: string }).code === name;

async function compare(one: string, other: string): Promise<Difference[]> {
  const compared = await diffSets({ ...procedureOptions(), before: one, after: other });
  try {
    return [...compared.differences()];
  } finally {
    await compared.close();
  }
}

for (const kind of ['sqlite', 'postgres'] as const) {
  const skip = kind === 'postgres' ? (missingPostgres() ?? false) : false;
  describe(`show and diff of sets on ${kind}`, { skip }, () => {
    const ends: (() => Promise<void>)[] = [];
    let platform: ServedPlatform;
    let set: string;
    before(async () => {
      platform = await servePlatform({ after: (end) => ends.push(end) }, kind);
      set = await platform.backup();
    });
    after(async () => {
      for (const end of ends) await end();
    });

    it('shows realms, users, clients, sessions, hashes, keys, tables and versions', async () => {
      const shown = await showSet({ ...procedureOptions(), set, passphrase: PASSPHRASE });
      assert.equal(shown.seal, 'holds');
      assert.equal(shown.versions.database, kind);
      assert.match(shown.versions.service ?? '', /^idkit \d/);
      assert.equal(typeof shown.versions.schema, 'number');
      const acme = shown.realms.find(({ realm }) => realm === 'acme')!;
      const { users, serviceAccounts, clients, groups } = acme;
      assert.deepEqual(
        { users, serviceAccounts, clients, groups },
        { users: 13, serviceAccounts: 3, clients: 13, groups: 2 },
      );
      const master = shown.realms.find(({ realm }) => realm === 'master')!;
      assert.ok(master.sessions! > 0, 'the session of the administrator');
      assert.equal(acme.sessions, 0);
      assert.equal(shown.sessions.online, master.sessions);
      const algorithms = new Set(shown.passwords.map(({ algorithm }) => algorithm));
      assert.deepEqual([...algorithms].sort(), ['argon2', 'pbkdf2-sha256', 'pbkdf2-sha512']);
      const passwords = shown.passwords.reduce((sum, { count }) => sum + count, 0);
      assert.ok(passwords >= 12 && passwords <= 14, `${passwords} passwords`);
      const published = (
        await fetch(`${platform.service.address}/realms/acme/protocol/openid-connect/certs`)
      ).json();
      const kids = ((await published) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
      for (const kid of kids)
        assert.ok(
          acme.keys.some((key) => key.kid === kid),
          kid,
        );
      const account = shown.tables.find(({ table }) => table === 'account')!;
      assert.equal(
        account.rows,
        shown.realms.reduce((sum, realm) => sum + realm.users + realm.serviceAccounts, 0),
      );
      assert.ok(account.bytes > 0);
    });

    it('lists added, removed and changed users, roles, clients, settings and keys, without any value', async () => {
      const { admin } = platform;
      const userId = async (name: string) =>
        ((await admin.call('GET', `/acme/users?username=${name}&exact=true`)).body as { id: string }[])[0]!
          .id;
      const [alice, bob] = [await userId('alice'), await userId('bob')];
      const role = { name: 'backup-auditor' };
      await admin.call('POST', '/acme/roles', role);
      const { body: auditor } = await admin.call('GET', '/acme/roles/backup-auditor');
      await admin.call('POST', `/acme/users/${alice}/role-mappings/realm`, [auditor]);
      await admin.call('PUT', `/acme/users/${alice}`, {
        lastName: 'SECRET-NAME',
        attributes: { phone: ['SECRET-PHONE'] },
      });
      await admin.call('PUT', `/acme/users/${bob}/reset-password`, {
        value: 'SECRET-password-1',
        type: 'password',
      });
      await admin.call('POST', '/acme/users', { username: 'zoe' });
      await admin.call('DELETE', `/acme/users/${await userId('dave-sha512')}`);
      await admin.call('PUT', '/acme', { accessTokenLifespan: 123 });
      await admin.call('POST', '/acme/components', {
        name: 'more-keys',
        providerId: 'rsa-generated',
        providerType: 'org.keycloak.keys.KeyProvider',
        config: { priority: ['1'] },
      });
      await admin.call('POST', '', {
        realm: 'globex',
        users: [{ username: 'x' }],
      });
      const found = await compare(set, await platform.backup(['database']));
      const acme = found.filter(({ realm }) => realm === 'acme');
      const short = acme.map(({ change, kind: what, name, fields }) => [
        change,
        what,
        name,
        ...(fields ?? []),
      ]);
      assert.deepEqual(short.filter(([, what]) => what === 'user').sort(), [
        ['added', 'user', 'zoe'],
        ['changed', 'user', 'alice', 'attributes.department', 'attributes.phone', 'lastName'],
        ['changed', 'user', 'bob', 'credentials.password'],
        ['removed', 'user', 'dave-sha512'],
      ]);
      assert.deepEqual(acme.find(({ name }) => name === 'alice')?.gained, { roles: ['backup-auditor'] });
      assert.deepEqual(
        short.filter(([, what]) => what === 'role'),
        [['added', 'role', 'backup-auditor']],
      );
      assert.deepEqual(
        short.filter(([, what]) => what === 'key'),
        [['added', 'key', 'more-keys']],
      );
      assert.deepEqual(
        short.filter(([, what]) => what === 'realm'),
        [['changed', 'realm', 'acme', 'accessTokenLifespan', 'secrets']],
      );
      const globex = found.find(({ kind: what, name }) => what === 'realm' && name === 'globex');
      assert.equal(globex?.change, 'added');
      assert.equal(globex?.contents?.user, 1);
      assert.ok(!found.some(({ realm, kind: what }) => realm === 'globex' && what !== 'realm'));
      assert.ok(!JSON.stringify(found).includes('SECRET'));
    });

    it('finds no difference between two sets of the same content', async () => {
      const [one, other] = [await platform.backup(['database']), await platform.backup(['database'])];
      assert.deepEqual(await compare(one, other), []);
    });
  });
}

describe('show and diff', () => {
  it('reads the set of a real Keycloak 26.7.3: realms, sessions, hashes and key ids', async (t) => {
    const { dir, passphrase } = await copyKeycloakSet(t);
    const shown = await showSet({ ...procedureOptions(), set: dir, passphrase });
    assert.equal(shown.versions.schema, '26.7.3');
    assert.equal(shown.versions.service, 'keycloak 26.7.3');
    const counts = shown.realms.map(({ realm, users, clients, sessions, offlineSessions }) => ({
      realm,
      users,
      clients,
      sessions,
      offlineSessions,
    }));
    assert.deepEqual(counts, [
      { realm: 'acme', users: 13, clients: 13, sessions: 13, offlineSessions: 1 },
      { realm: 'globex', users: 1000, clients: 8, sessions: 2, offlineSessions: 0 },
      { realm: 'initech', users: 0, clients: 7, sessions: 0, offlineSessions: 0 },
      { realm: 'master', users: 1, clients: 9, sessions: 289, offlineSessions: 0 },
    ]);
    assert.deepEqual(shown.passwords, [
      { algorithm: 'pbkdf2-sha512', iterations: 1000, count: 998 },
      { algorithm: 'argon2', iterations: 5, count: 14 },
      { algorithm: 'pbkdf2-sha256', iterations: 27500, count: 1 },
    ]);
    const [key] = shown.realms[0]!.keys;
    assert.equal(key?.kid, 'OqERj6TFvX6DGofVFNmZH5bxcMRmZySkb2_zk6l_R04');
    assert.ok(key.createdAt! > 0);
  });

  it('compares sets of Keycloak: a removed user, a changed field, a revoked role and a new password', async (t) => {
    const { root, dir } = await copyKeycloakSet(t);
    const other = join(root, 'other');
    await cp(dir, other, { recursive: true });
    await rewriteDump(other, (sql) =>
      sql
        .replace(/^.*\tservice-account-long-lived\t.*\n/m, '')
        .replaceAll('alice@example.test', 'alice@other.test')
        .replace(/^(?=[^\t]*\t[^\t]*\tpassword\td1e46c1c).*$/m, (row) => row.replace('"value', '"VALUE')),
    );
    const found = await compare(dir, other);
    const short = found
      .map(({ change, kind, name, fields }) => [change, kind, name, ...(fields ?? [])])
      .sort();
    assert.deepEqual(short, [
      ['changed', 'user', 'alice', 'email', 'emailConstraint'],
      ['changed', 'user', 'bob', 'credentials.password'],
      ['removed', 'user', 'service-account-long-lived'],
    ]);
  });

  it('rejects a set that does not match its checksums, and one without the database, and leaves no temporary file', async (t) => {
    const { dir } = await copyKeycloakSet(t);
    const isOurs = (name: string) => name.startsWith(`idkit-diff-${process.pid}-`);
    await appendFile(join(dir, 'keycloak-db.sql.gz'), gzipSync('x'));
    await assert.rejects(showSet({ ...procedureOptions(), set: dir }), {
      code: 'IDKIT_DAMAGED',
      message: 'keycloak-db.sql.gz: it is damaged: its content does not match checksums.sha256',
    });
    await assert.rejects(compare(dir, dir), code('IDKIT_DAMAGED'));
    assert.deepEqual((await readdir(tmpdir())).filter(isOurs), []);
    const empty = await makeDirectory(t, 'empty');
    await assert.rejects(
      showSet({ ...procedureOptions(), set: join(empty, 'none') }),
      code('IDKIT_NOT_FOUND'),
    );
  });
});
