import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findPostgresPassword, parsePostgresUrl, showPostgresAddress } from '../../src/config/index.ts';

// The expected values follow PostgreSQL documentation, 34.1.1.2 (connection URIs) and 34.16 (the password file).

test('parses a Postgres address as libpq does', () => {
  const cases: [url: string, hosts: string, user: string, database: string][] = [
    ['postgres://idkit@db/idkit', 'db:5432', 'idkit', 'idkit'],
    [
      'postgresql://me@h1:5433,h2,[2001:db8::1]:6000/name',
      'h1:5433,h2:5432,[2001:db8::1]:6000',
      'me',
      'name',
    ],
    ['postgres://u%40x@host/my%20db', 'host:5432', 'u@x', 'my db'],
    ['postgres://me@/name?host=/run/pg&port=5433', '/run/pg/.s.PGSQL.5433', 'me', 'name'],
    ['postgres://me@%2Frun%2Fpg:5433/name', '/run/pg/.s.PGSQL.5433', 'me', 'name'],
    ['postgres://?host=a,b&port=1,2&user=me&dbname=x', 'a:1,b:2', 'me', 'x'],
    ['postgres://?host=a,b&port=7', 'a:7,b:7', userInfo().username, userInfo().username],
    ['postgres://me@host', 'host:5432', 'me', 'me'],
    ['postgres:///x', 'localhost:5432', userInfo().username, 'x'],
  ];
  for (const [url, hosts, user, database] of cases) {
    const address = parsePostgresUrl(url);
    assert.equal(showPostgresAddress(address), `${hosts}/${database}`, url);
    assert.equal(address.user, user, url);
  }
});

test('reads the certificate checks and the connection timeout from the address', () => {
  const address = parsePostgresUrl(
    'postgres://me:pass%3Aword@h/n?sslmode=verify-full&sslrootcert=/ca.pem&sslcert=/c&sslkey=/k&connect_timeout=3&passfile=/p&target_session_attrs=any',
  );
  const { sslMode, sslRootCert, sslCert, sslKey, connectTimeout, passFile, password } = address;
  assert.deepEqual(
    [sslMode, sslRootCert, sslCert, sslKey, connectTimeout, passFile, password?.reveal()],
    ['verify-full', '/ca.pem', '/c', '/k', 3, '/p', 'pass:word'],
  );
  assert.equal(parsePostgresUrl('postgres://me@h/n').sslMode, 'prefer');
});

test('allows only SCRAM by default, and MD5 only together with SCRAM', () => {
  const allowed = (query: string) => parsePostgresUrl(`postgres://me@h/n${query}`).requireAuth.join(' ');
  assert.equal(allowed(''), 'scram-sha-256 none');
  assert.equal(allowed('?require_auth=scram-sha-256'), 'scram-sha-256');
  assert.equal(allowed('?require_auth=md5'), 'md5 scram-sha-256');
  assert.equal(allowed('?require_auth=scram-sha-256,md5'), 'scram-sha-256 md5');
  assert.equal(allowed('?require_auth=none'), 'none');
});

test('the error for an invalid address does not contain its password', () => {
  const cases: [url: string, message: RegExp][] = [
    ['mysql://me@h/n', /form/],
    ['postgres://me:geheim@h:99999/n', /99999/],
    ['postgres://me:geheim@h:x/n', /host|port/],
    ['postgres://me:geheim@h/n?sslmode=yes', /sslmode/],
    ['postgres://me:geheim@h/n?colour=red', /colour/],
    ['postgres://me:geheim@h/n?sslmode', /no value/],
    ['postgres://me:geheim@h/n?target_session_attrs=standby', /reject writes/],
    ['postgres://me:geheim@?host=a,b&port=1,2,3', /2 hosts and 3 ports/],
    ['postgres://me:geheim@h/%zz', /percent/],
    ['postgres://me:geheim@h/%00', /NUL/],
    ['postgres://me:geheim@h/n?connect_timeout=soon', /connect_timeout/],
    ['postgres://me:geheim@h/n?require_auth=password', /require_auth.*in clear text/],
    ['postgres://me:geheim@h/n?require_auth=md5,kerberos', /"kerberos", which is not known/],
    ['postgres://me:geheim@h/n?require_auth=!none', /require_auth/],
  ];
  for (const [url, message] of cases)
    assert.throws(
      () => parsePostgresUrl(url),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'IDKIT_SETTING', url);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /geheim/);
        return true;
      },
    );
});

test('returns the password of the first matching line of the password file', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'idkit-pass-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'pass');
  writeFileSync(
    file,
    [
      '# comment',
      'h1:5432:n:me:one',
      'h2:*:*:me:t\\:w\\\\o',
      'localhost:*:*:me:socket',
      '*:*:other:*:th:ree',
      '',
    ].join('\n'),
    { mode: 0o600 },
  );
  const find = (url: string) => {
    const address = parsePostgresUrl(url);
    return findPostgresPassword(address, address.hosts[0]!, { PGPASSFILE: file })?.reveal();
  };
  assert.equal(find('postgres://me@h1/n'), 'one');
  assert.equal(find('postgres://me@h1:5433/n'), undefined);
  assert.equal(find('postgres://me@h2:7/any'), 't:w\\o');
  assert.equal(find('postgres://me@/n?host=/run/pg'), 'socket');
  assert.equal(find('postgres://you@h9/other'), 'th:ree');
  assert.equal(find('postgres://you@h1/n'), undefined);
  assert.equal(find(`postgres://me@h1/n?passfile=${encodeURIComponent(join(directory, 'none'))}`), undefined);
});
