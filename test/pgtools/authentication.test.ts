import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { after, type TestContext, test } from 'node:test';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { parsePostgresUrl } from '../../src/config/index.ts';
import { IdkitError, Secret } from '../../src/core/index.ts';
import { openContext } from '../../src/pgtools/context.ts';
import { openLocalPrograms } from '../../src/pgtools/programs/local-programs.ts';
import { lockPostgres } from '../../src/postgres/index.ts';
import { makeCertificate } from '../conformance/oidc/certificate.ts';
import { freePort } from '../free-port.ts';
import {
  authentication,
  CLEARTEXT,
  LET_IN,
  MD5,
  READY,
  SCRAM,
  scramChallenge,
  startHostile,
  type Talk,
} from '../store/hostile-postgres.ts';
import {
  missingPostgres,
  ownerOfClusters,
  type PostgresServer,
  startPostgres,
} from '../store/postgres-server.ts';

const skip = missingPostgres() ?? false;
const PASSWORD = 'Quite-Secret-1';

/** The two ways to send a password to a server: through the relay for psql and pg_dump, and through the driver. */
const WAYS: readonly [name: string, reach: (url: string, password?: string) => Promise<void>][] = [
  [
    'psql',
    async (url, password) => {
      await psqlOf(url, password).query('postgres', 'SELECT 1;');
    },
  ],
  [
    'the driver',
    async (url, password = PASSWORD) => {
      const lock = await lockPostgres({ url, password: new Secret(password) }, 'shared');
      await lock.release();
    },
  ],
];

function psqlOf(url: string, password = PASSWORD) {
  return openContext({
    address: parsePostgresUrl(url),
    password: new Secret(password),
    programs: openLocalPrograms(),
    service: 'keycloak',
  }).psql;
}

/** Starts a server with one role for each authentication method. A role has the name of its method. */
async function startAsking(t: Parameters<typeof startPostgres>[0]): Promise<PostgresServer> {
  const server = await startPostgres(t);
  const psql = psqlOf(server.url, server.password);
  await psql.query(
    'postgres',
    `CREATE ROLE trust LOGIN; CREATE ROLE scram LOGIN PASSWORD '${PASSWORD}';
     CREATE ROLE password LOGIN PASSWORD '${PASSWORD}';
     CREATE ROLE "md5 of scram" LOGIN PASSWORD '${PASSWORD}';
     SET password_encryption = 'md5'; CREATE ROLE md5 LOGIN PASSWORD '${PASSWORD}';`,
  );
  const rules = join(server.dir, 'cluster', 'pg_hba.conf');
  const asked = ['trust trust', 'scram scram-sha-256', 'password password', 'md5 md5', '"md5 of scram" md5'];
  const lines = asked.map((rule) => `host all ${rule.replace(/ (\S+)$/, ' 127.0.0.1/32 $1')}\n`);
  writeFileSync(rules, lines.join('') + readFileSync(rules, 'utf8'));
  await server.stop();
  await server.start();
  return server;
}

/** Starts a server with TLS. The result contains its certificate. */
async function startWithTls(t: Parameters<typeof startPostgres>[0]) {
  const server = await startPostgres(t);
  const own = await makeCertificate();
  const owner = ownerOfClusters();
  const files = { ssl_cert_file: own.cert, ssl_key_file: own.key };
  const psql = psqlOf(server.url, server.password);
  for (const [setting, text] of Object.entries(files)) {
    const path = join(server.dir, setting);
    writeFileSync(path, text, { mode: 0o600 });
    if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
    await psql.query('postgres', `ALTER SYSTEM SET ${setting} = '${path}'`);
  }
  await psql.query('postgres', 'ALTER SYSTEM SET ssl = on');
  await server.stop();
  await server.start();
  return { server, certificate: join(server.dir, 'ssl_cert_file') };
}

/**
 * Starts an attacker between the client and a server with TLS, who presents another certificate and reads the traffic.
 */
async function startInBetween(t: TestContext, port: number, change: (fromServer: Buffer) => Buffer) {
  const own = await makeCertificate();
  const sockets = new Set<Duplex>();
  const way = createServer(async (near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    await once(near, 'data');
    far.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
    await once(far, 'data');
    near.write('S');
    const within = new TLSSocket(near, { isServer: true, ...own });
    const beyond = connectTls({ socket: far, rejectUnauthorized: false });
    for (const [from, to] of [
      [within, beyond],
      [beyond, within],
    ] as const) {
      sockets.add(from.on('error', () => undefined));
      from.on('data', (bytes: Buffer) => to.write(from === beyond ? change(bytes) : bytes));
      from.on('close', () => to.destroy());
    }
  });
  way.listen(0, '127.0.0.1');
  await once(way, 'listening');
  t.after(() => {
    way.close();
    for (const socket of sockets) socket.destroy();
  });
  return (way.address() as AddressInfo).port;
}

const relays = () => readdirSync('/tmp').filter((name) => name.startsWith(`idkit-relay-${process.pid}-`));

test('sends the password only with SCRAM, or with MD5 if the address allows it, but never in the clear', {
  skip,
}, async () => {
  const server = await startAsking({ after });
  const at = (role: string, parameters = '') =>
    `postgres://${encodeURIComponent(role)}@127.0.0.1:${server.port}/postgres${parameters}`;
  for (const [way, reach] of WAYS) {
    for (const role of ['trust', 'scram', 'md5 of scram']) await reach(at(role));
    for (const parameters of ['', '?require_auth=scram-sha-256,md5', '?require_auth=none']) {
      await assert.rejects(reach(at('password', parameters)), (error: unknown) => {
        assert.ok(error instanceof IdkitError, way);
        assert.deepEqual([error.code, error.exitCode], ['IDKIT_PASSWORD_METHOD', 12], way);
        assert.match(
          error.message,
          new RegExp(`127\\.0\\.0\\.1:${server.port} requests a password in the clear`),
        );
        assert.match(error.hints.join('\n'), /pg_hba\.conf/);
        assert.ok(!`${error.message}${error.hints}`.includes(PASSWORD));
        return true;
      });
    }
    await assert.rejects(reach(at('md5')), (error: unknown) => {
      assert.ok(error instanceof IdkitError, way);
      assert.equal(error.code, 'IDKIT_PASSWORD_METHOD');
      assert.match(error.hints.join('\n'), /require_auth=scram-sha-256,md5/);
      return true;
    });
    for (const role of ['md5', 'scram']) await reach(at(role, '?require_auth=md5'));
    await assert.rejects(reach(at('trust', '?require_auth=scram-sha-256')), {
      code: 'IDKIT_PASSWORD_METHOD',
      message: /requests no password at all/,
    });
    await assert.rejects(reach(at('scram'), 'wrong'), { code: 'IDKIT_CREDENTIALS' });
  }
  assert.deepEqual(relays(), []);
});

/**
 * Hostile servers, each of which tries to get the password or accepts any client. The pattern is the expected error.
 */
const HOSTILE: readonly [name: string, talk: Talk, message: RegExp][] = [
  ['asks in the clear', ({ say }) => say('R', CLEARTEXT), /a password in the clear/],
  ['asks for MD5', ({ say }) => say('R', MD5), /an MD5 hash/],
  [
    'asks for SCRAM first and then in the clear',
    async ({ say, ask }) => {
      say('R', SCRAM);
      await ask();
      say('R', CLEARTEXT);
    },
    /a password in the clear/,
  ],
  [
    'asks for the proof and then for MD5',
    async ({ say, ask }) => {
      say('R', SCRAM);
      say('R', scramChallenge(await ask(), 4096));
      await ask();
      say('R', MD5);
    },
    /an MD5 hash/,
  ],
  [
    'asks for 2^31 rounds',
    async ({ say, ask }) => {
      say('R', SCRAM);
      say('R', scramChallenge(await ask(), 2 ** 31 - 1));
    },
    /iteration count 2147483647/,
  ],
  [
    'lets in without its own proof',
    async ({ say, ask }) => {
      say('R', SCRAM);
      say('R', scramChallenge(await ask(), 4096));
      await ask();
      say('R', LET_IN);
      say('Z', READY);
    },
    /without proving/,
  ],
  [
    'is ready without a word of having let in',
    async ({ say, ask }) => {
      say('R', SCRAM);
      await ask();
      say('Z', READY);
    },
    /without proving/,
  ],
  [
    'gives a wrong proof',
    async ({ say, ask }) => {
      say('R', SCRAM);
      say('R', scramChallenge(await ask(), 4096));
      await ask();
      say('R', authentication(12, `v=${Buffer.alloc(32).toString('base64')}`));
      say('R', LET_IN);
      say('Z', READY);
    },
    /server signature does not match/,
  ],
  ['requests an unknown method', ({ say }) => say('R', authentication(10, 'PLAIN\0\0')), /requests PLAIN/],
];

test('a hostile server never gets the password, whatever it requests and in whichever order', async (t) => {
  const password = Buffer.from(PASSWORD);
  const inner = createHash('md5').update(`${PASSWORD}me`).digest('hex');
  const hash = createHash('md5').update(`${inner}salt`).digest('hex');
  for (const [name, talk, message] of HOSTILE) {
    const server = await startHostile(t, talk);
    const url = `postgres://me@127.0.0.1:${server.port}/postgres?sslmode=disable&connect_timeout=5`;
    for (const [way, reach] of WAYS) {
      if (way === 'psql' && skip !== false) continue;
      await assert.rejects(reach(url), { code: 'IDKIT_PASSWORD_METHOD', message }, `${way}: ${name}`);
    }
    assert.ok(server.connections() >= 1, name);
    assert.ok(!server.received().includes(password), name);
    assert.ok(!server.received().includes(hash), name);
  }
});

test('does not send the password to a server that requests SCRAM first and cleartext on the next connection', {
  skip,
}, async (t) => {
  const real = await startPostgres(t);
  const server = await startHostile(t, real.port, ({ say }) => say('R', CLEARTEXT));
  const url = `postgres://${real.user}@127.0.0.1:${server.port}/postgres?sslmode=disable`;
  const psql = psqlOf(url, real.password);
  await psql.query('postgres', 'SELECT 1;');
  assert.equal(psql.password?.reveal(), real.password);
  await assert.rejects(psql.openSession('postgres', {}), { code: 'IDKIT_PASSWORD_METHOD' });
  assert.equal(server.connections(), 2);
  assert.ok(!server.received().includes(real.password));
  assert.deepEqual(relays(), []);
});

test('rejects a proxy between client and server, because TLS binds the password exchange to the server’s certificate', {
  skip,
}, async (t) => {
  const { server, certificate } = await startWithTls({ after });
  const at = (port: number, parameters = '') =>
    `postgres://${server.user}@127.0.0.1:${port}/postgres?sslmode=require${parameters}`;
  const asIs = await startInBetween(t, server.port, (bytes) => bytes);
  // Removes channel binding from the server's list of mechanisms without changing the length of the message.
  const without = await startInBetween(t, server.port, (bytes) =>
    Buffer.from(
      bytes
        .toString('latin1')
        .replace('SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0', 'SCRAM-SHA-256\0SCRAM-SHA-XXX-PLUS\0'),
      'latin1',
    ),
  );
  for (const [way, reach] of WAYS) {
    await reach(at(server.port), server.password);
    await reach(at(server.port, `&sslrootcert=${encodeURIComponent(certificate)}`), server.password);
    for (const port of [asIs, without])
      await assert.rejects(reach(at(port), server.password), /channel binding|channel-binding/, way);
  }
  const [row] = await psqlOf(at(server.port), server.password).query<{ ssl: boolean }>(
    'postgres',
    `SELECT json_build_object('ssl', ssl) FROM pg_stat_ssl WHERE pid = pg_backend_pid();`,
  );
  assert.equal(row?.ssl, true);
});

test('psql skips a host that exceeds connect_timeout and one that rejects it, and uses the host that accepts writes', {
  skip,
}, async (t) => {
  const [standby, primary] = [await startPostgres({ after }), await startPostgres({ after })];
  await standby.stop();
  writeFileSync(join(standby.dir, 'cluster', 'standby.signal'), '');
  await standby.start();
  const silent = await startHostile(t, () => undefined);
  const ports = [silent.port, await freePort(), standby.port, primary.port];
  const psql = psqlOf(
    `postgres://postgres@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/postgres?connect_timeout=1`,
    primary.password,
  );
  const [row] = await psql.query<{ port: string }>(
    'postgres',
    `SELECT json_build_object('port', current_setting('port'));`,
  );
  assert.equal(row?.port, String(primary.port));
  await primary.stop();
  await assert.rejects(psql.query('postgres', 'SELECT 1;'), {
    code: 'IDKIT_UNREACHABLE',
    message: /accepts no writes/,
  });
});
