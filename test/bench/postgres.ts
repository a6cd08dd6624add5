import { createHash, randomUUID } from 'node:crypto';
import { Secret } from '../../src/core/index.ts';
import { signJws } from '../../src/crypto/index.ts';
import { openKeyRing } from '../../src/protocol/index.ts';
import { openStore } from '../../src/store/open.ts';
import { idBytes, idText } from '../../src/store/records/id-bytes.ts';
import { makeDatabase, runSql } from '../store/databases.ts';
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import type { Effort, Measured } from './grants.ts';
import { baseline, load, median, runPinned, SERVER_CORE } from './measure.ts';
import { decode } from './seed.ts';
import {
  type BenchService,
  type Entry,
  logIn,
  makeDirectory,
  makeRealms,
  readEnvironment,
  removeDirectory,
  startService,
} from './service.ts';

/** Number of refresh tokens that the load uses in a large database. */
const USABLE = 20_000;

const ROTATE = new URL('rotate-postgres.ts', import.meta.url).pathname;

/** A service with its own database, both on the server's core. */
interface Platform {
  dir: string;
  name: string;
  url: string;
  service: BenchService;
  tokens: string[];
}

/**
 * Measures single refreshes, parallel refreshes, and refreshes in a database with many sessions. Postgres (with fsync
 * on) and the service share one core.
 */
export async function measurePostgres(
  entry: Entry,
  effort: Effort,
  few: number,
  many: number,
): Promise<Measured[]> {
  const closers: (() => unknown)[] = [];
  try {
    const server = await startPostgres(
      { after: (close) => void closers.push(close) },
      {
        core: SERVER_CORE,
        settings: { fsync: 'on', synchronous_commit: 'on', shared_buffers: '512MB', max_wal_size: '4GB' },
      },
    );
    return [
      await measureBatches(server, effort),
      await measureRefresh(entry, server, effort, closers),
      await measureMany(entry, server, effort, [few, many], closers),
    ];
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function measureBatches(server: PostgresServer, effort: Effort): Promise<Measured> {
  const ratios: number[] = [];
  let detail = '';
  for (let round = 0; round < effort.rounds; round += 1) {
    const rate = async (mode: string): Promise<number> => {
      const { url } = await makeDatabase(server);
      process.env['IDKIT_DATABASE_PASSWORD'] = server.password;
      const output = await runPinned(SERVER_CORE, process.execPath, [
        ROTATE,
        mode,
        url,
        String(effort.seconds),
      ]);
      return (JSON.parse(output) as { perSecond: number }).perSecond;
    };
    const single = await rate('single');
    const grouped = await rate('group');
    ratios.push(grouped / single);
    detail = `${Math.round(grouped)}/s over ${Math.round(single)}/s`;
  }
  return { row: 'Postgres: batched rotations / a statement per call', ratio: median(ratios), detail };
}

async function measureRefresh(
  entry: Entry,
  server: PostgresServer,
  effort: Effort,
  closers: (() => unknown)[],
): Promise<Measured> {
  const platform = await makePlatform(entry, server, closers);
  platform.tokens = await logIn(platform.service.port, 'rs', 128);
  const ratios: number[] = [];
  const rates: number[] = [];
  for (let round = 0; round <= effort.rounds; round += 1) {
    const bare = await baseline('sign', 'RS256', String(effort.seconds / 2));
    const rate = await refresh(platform, round === 0 ? effort.warmUp : effort.seconds);
    if (round === 0) continue;
    ratios.push(rate / bare);
    rates.push(rate);
  }
  const detail = `${Math.round(median(rates))}/s, ${ratios.length} rounds`;
  return { row: 'Postgres: refresh RS256, durable / bare signing', ratio: median(ratios), detail };
}

async function measureMany(
  entry: Entry,
  server: PostgresServer,
  effort: Effort,
  [few, many]: readonly [number, number],
  closers: (() => unknown)[],
): Promise<Measured> {
  const sides: Platform[] = [];
  for (const count of [few, many]) {
    const platform = await makePlatform(entry, server, closers);
    const [token] = await logIn(platform.service.port, 'rs', 1);
    platform.tokens = await seedSessions(server, platform, token ?? '', count);
    sides.push(platform);
  }
  const [small, large] = sides as [Platform, Platform];
  const ratios: number[] = [];
  for (let round = 0; round <= effort.rounds; round += 1) {
    const seconds = round === 0 ? effort.warmUp : effort.seconds;
    const atFew = await refresh(small, seconds);
    const atMany = await refresh(large, seconds);
    if (round > 0) ratios.push(atMany / atFew);
  }
  const detail = `${many.toLocaleString('en')} over ${few.toLocaleString('en')} sessions`;
  return { row: 'Postgres: refresh at many sessions / at few', ratio: median(ratios), detail };
}

async function makePlatform(
  entry: Entry,
  server: PostgresServer,
  closers: (() => unknown)[],
): Promise<Platform> {
  const dir = makeDirectory();
  closers.push(() => removeDirectory(dir));
  const { name, url } = await makeDatabase(server);
  const service = await startService(entry, dir, {
    IDKIT_DATABASE_URL: url,
    IDKIT_DATABASE_PASSWORD: server.password,
  });
  closers.push(() => service.stop());
  await makeRealms(service.port);
  return { dir, name, url, service, tokens: [] };
}

async function refresh(platform: Platform, seconds: number): Promise<number> {
  const result = await load({
    port: platform.service.port,
    method: 'POST',
    path: '/realms/rs/protocol/openid-connect/token',
    form: 'grant_type=refresh_token&client_id=web',
    tokens: platform.tokens,
    connections: 32,
    seconds,
  });
  platform.tokens = result.tokens ?? [];
  return result.perSecond;
}

/**
 * Copies the session and the token family of `token` until `count` of each exist. Returns refresh tokens that are
 * spread evenly over them.
 */
async function seedSessions(
  server: PostgresServer,
  platform: Platform,
  token: string,
  count: number,
): Promise<string[]> {
  const claims = decode(token);
  const masterKey = new Secret(readEnvironment(platform.dir)['IDKIT_MASTER_KEY'] ?? '');
  const store = await openStore({
    postgres: { url: platform.url, password: new Secret(server.password) },
    masterKey,
    mode: 'read',
  });
  const realm = await store.findRealm('rs');
  await store.close();
  const key = await openKeyRing().signingKey(realm!, 'HS512');
  const columns = async (table: string, except: readonly string[]) => {
    const rows = await runSql(
      server,
      `SELECT string_agg(attname, ', ') AS names FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum > 0
       AND attname NOT IN (${except.map((name) => `'${name}'`).join(', ')})`,
      platform.name,
    );
    return String(rows[0]!['names']);
  };
  const sessions = await columns('user_session', ['id']);
  const families = await columns('token_family', ['id', 'session_id', 'current_hash']);
  // The copied rows refer to existing rows, so Postgres need not check their foreign keys.
  const hex = (id: unknown) => `'\\x${Buffer.from(idBytes(String(id))).toString('hex')}'`;
  const [familyId, sessionId] = [hex(claims['reuse_id']), hex(claims['sid'])];
  const newSession = `decode(left(md5(n::text) || md5(n::text), 36), 'hex')`;
  const newFamily = `decode(md5(n::text), 'hex')`;
  await runSql(
    server,
    `SET session_replication_role = replica; INSERT INTO user_session (id, ${sessions}) SELECT ${newSession}, ${sessions} FROM user_session, generate_series(1, ${count}) AS n WHERE id = ${sessionId}`,
    platform.name,
  );
  await runSql(
    server,
    `SET session_replication_role = replica; INSERT INTO token_family (id, session_id, current_hash, ${families}) SELECT ${newFamily}, ${newSession}, sha256(n::text::bytea), ${families} FROM token_family, generate_series(1, ${count}) AS n WHERE session_id = ${sessionId} AND id = ${familyId}`,
    platform.name,
  );
  const tokens: string[] = [];
  const updates: string[] = [];
  for (let index = 0; index < Math.min(USABLE, count / 2); index += 1) {
    const n = 1 + Math.floor((index * count) / USABLE);
    const md5 = createHash('md5').update(String(n)).digest('hex');
    const session = Buffer.from(`${md5}${md5}`.slice(0, 36), 'hex');
    const family = Buffer.from(md5, 'hex');
    const next = await signJws(key, {
      ...claims,
      jti: randomUUID(),
      sid: idText(session),
      reuse_id: idText(family),
    });
    const hash = createHash('sha256').update(next).digest('hex');
    updates.push(
      `UPDATE token_family SET current_hash = '\\x${hash}' WHERE session_id = '\\x${session.toString('hex')}' AND id = '\\x${md5}'`,
    );
    tokens.push(next);
  }
  await runSql(server, updates.join('; '), platform.name);
  await runSql(server, 'VACUUM ANALYZE user_session', platform.name);
  await runSql(server, 'VACUUM ANALYZE token_family', platform.name);
  await runSql(server, 'CHECKPOINT', platform.name);
  return tokens;
}
