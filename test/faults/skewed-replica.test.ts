import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { test } from 'node:test';
import { login, refresh } from '../http/service.ts';
import { openReplicas } from '../replicas/replicas.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';

/** The library of Debian's package libfaketime. It changes the clock of a process. */
const LIBRARY = globSync('/usr/lib/*/faketime/libfaketime.so.1')[0];
/**
 * The clock of one replica is fast by this many seconds, which is longer than the lifetime of a code, an access token
 * and a login.
 */
const AHEAD = 7_200;

function missing(): string | undefined {
  const what =
    missingPostgres() ??
    (LIBRARY !== undefined && existsSync(LIBRARY)
      ? undefined
      : 'libfaketime is not installed (Debian package faketime)');
  if (what !== undefined && process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') throw new Error(what);
  return what;
}

test('a replica whose clock is two hours fast serves the same sessions and tokens as the others', {
  skip: missing() ?? false,
}, async (t) => {
  const server = await startPostgres(t);
  const replicas = await openReplicas(t, server);
  const right = await replicas.start();
  const env = { LD_PRELOAD: LIBRARY, FAKETIME: `+${AHEAD}s`, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
  const ahead = await replicas.start({ env });
  assert.ok(
    ahead.log().some(({ time }) => Math.abs(Number(new Date(time as string)) - Date.now()) > 3_600_000),
    'its machine is ahead',
  );
  for (const [one, other] of [
    [right, ahead],
    [ahead, right],
  ] as const) {
    const first = await login(one);
    const claims = JSON.parse(Buffer.from(first['access_token']!.split('.')[1]!, 'base64url').toString()) as {
      iat: number;
    };
    assert.ok(Math.abs(claims.iat - Date.now() / 1000) < 60, 'it was issued at the time of the database');
    const use = (token: string) =>
      fetch(`${other.address}/admin/realms/master/users`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(
      (await use(first['access_token']!)).status,
      200,
      'an access token is valid at the other one',
    );
    const second = await refresh(other, first['refresh_token']!);
    assert.equal(second.status, 200, 'a refresh token is valid at the other one');
    const third = await refresh(one, second.body['refresh_token']!);
    assert.equal(third.status, 200, 'and its successor here');
    assert.equal((await use(third.body['access_token']!)).status, 200, 'its access token is valid there');
  }
});
