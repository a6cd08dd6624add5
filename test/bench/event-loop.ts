import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { initPlatform } from '../../src/config/index.ts';
import { connectionOf, makeDatabase } from '../store/databases.ts';
import { startPostgres } from '../store/postgres-server.ts';

// Measures for how long the calls of administrators hold the event loop, on a realm with many records.
// Usage: node test/bench/event-loop.ts [sqlite|postgres] [scale in percent] [pattern of calls]
// Exits with 1 if a call holds the event loop for longer than `MOST_HELD_MS`.

/** Limit in milliseconds for which a call should hold the event loop. */
const HELD_MS = 10;
/** Longest time in milliseconds that is accepted, because the machine may be busy and collects garbage. */
const MOST_HELD_MS = 100;

const dialect = process.argv[2] ?? 'sqlite';
const scale = Number(process.argv[3] ?? 100) / 100;
const only = process.argv[4];
const count = (n: number) => Math.max(1, Math.round(n * scale));
const SIZES = {
  clients: count(10_000),
  groups: count(50_000),
  roles: count(10_000),
  users: count(100_000),
  sessions: count(100_000),
};
const SECRETS = {
  IDKIT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  IDKIT_ADMIN_USERNAME: 'admin',
  IDKIT_ADMIN_PASSWORD: 'Test-Admin-Password-1',
  IDKIT_SMOKE_CLIENT_SECRET: 'test-smoke-client-secret',
};

const root = mkdtempSync(join(tmpdir(), 'idkit-loop-'));
const dir = join(root, 'platform');
const socket = join(root, 'watch.sock');
initPlatform(dir, { env: SECRETS });
const cleanUps: (() => unknown)[] = [() => rmSync(root, { recursive: true, force: true })];
let url: string | undefined;
let connection: Client | undefined;
if (dialect === 'postgres') {
  const server = await startPostgres({ after: (fn: () => unknown) => cleanUps.unshift(fn) } as never);
  const made = await makeDatabase(server);
  url = made.url;
  appendFileSync(join(dir, '.env'), `IDKIT_DATABASE_PASSWORD=${server.password}\n`);
  connection = new Client({ ...connectionOf(server), database: made.name });
  await connection.connect();
  cleanUps.unshift(() => connection!.end());
}

function startService() {
  const program = join(root, 'serve.ts');
  const repo = new URL('../..', import.meta.url).pathname;
  if (!existsSync(program))
    writeFileSync(
      program,
      `import { loadSettings } from '${repo}src/config/index.ts';
import { startService } from '${repo}src/service/index.ts';
const flags = { 'listen.port': '0', 'listen.managementPort': '0', baseUrl: 'http://idkit.test', ...(process.argv[3] ? { database: process.argv[3] } : {}) };
const settings = await loadSettings({ dir: process.argv[2], flags, env: {} });
const service = await startService(settings);
process.stdout.write(service.address + ' ' + service.managementUrl + '\\n');
process.once('SIGTERM', () => void service.close().then(() => process.exit(0)));`,
    );
  const watch = new URL('./loop-watch.ts', import.meta.url).pathname;
  const extra = process.env['LOOP_FLAGS']?.split(' ') ?? [];
  const child = spawn(process.execPath, [...extra, '--import', watch, program, dir, ...(url ? [url] : [])], {
    env: { ...process.env, LOOP_WATCH: socket },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const started = new Promise<string[]>((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data).trim().split(' '))),
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = () => child.kill('SIGTERM') && ended;
  return { started, stop };
}

function watched(): Promise<{ longest: number; holds: number[]; rss: number }> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: socket, path: '/' }, (response) => {
      let text = '';
      response.on('data', (data) => (text += data));
      response.on('end', () => resolve(JSON.parse(text)));
    });
    asked.on('error', reject);
    asked.end();
  });
}

async function run(sql: string): Promise<void> {
  if (connection !== undefined) return void (await connection.query(sql));
  const database = new DatabaseSync(join(dir, 'data', 'idkit.db'), { timeout: 20_000 });
  database.exec(sql);
  database.close();
}

/** Returns the rows of a query with `$1` as its only value. */
async function rows(sql: string, value: unknown): Promise<Record<string, unknown>[]> {
  if (connection !== undefined) return (await connection.query(sql, [value])).rows;
  const database = new DatabaseSync(join(dir, 'data', 'idkit.db'), { timeout: 20_000 });
  const found = database.prepare(sql.replace('$1', '?')).all(value as string);
  database.close();
  return found as Record<string, unknown>[];
}

async function copyRows(table: string, copies: Record<string, unknown>[]): Promise<void> {
  const columns = Object.keys(copies[0]!);
  if (connection !== undefined) {
    for (let at = 0; at < copies.length; at += 500) {
      const part = copies.slice(at, at + 500);
      const values = part.map((_, i) => `(${columns.map((_c, j) => `$${i * columns.length + j + 1}`)})`);
      await connection.query(
        `INSERT INTO ${table} (${columns}) VALUES ${values}`,
        part.flatMap((row) => columns.map((name) => row[name])),
      );
    }
    return;
  }
  const database = new DatabaseSync(join(dir, 'data', 'idkit.db'), { timeout: 20_000 });
  const insert = database.prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`);
  database.exec('BEGIN');
  for (const row of copies) insert.run(...(columns.map((name) => row[name]) as never[]));
  database.exec('COMMIT');
  database.close();
}

const like = (value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(randomUUID().replaceAll('-', ''), 'hex') : randomUUID();

async function token(
  address: string,
  realm = 'master',
  user = 'admin',
  password = SECRETS.IDKIT_ADMIN_PASSWORD,
) {
  const answer = await fetch(`${address}/realms/${realm}/protocol/openid-connect/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username: user, password }),
  });
  const body = (await answer.json()) as Record<string, string>;
  if (answer.status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

function claimsOf(jwt: string): Record<string, string> {
  return JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString());
}

console.log(`seeding ${dialect}`, SIZES);
let service = startService();
let [address] = await service.started;
let tokens = await token(address!);
const auth = () => ({
  authorization: `Bearer ${tokens['access_token']}`,
  'content-type': 'application/json',
});
const made = await fetch(`${address}/admin/realms`, {
  method: 'POST',
  headers: auth(),
  body: JSON.stringify({
    realm: 'big',
    enabled: true,
    users: [
      {
        username: 'ada',
        enabled: true,
        email: 'ada@example.test',
        firstName: 'A',
        lastName: 'B',
        credentials: [{ type: 'password', value: 'Correct-Horse-1' }],
      },
    ],
    clients: [{ clientId: 'web', publicClient: true, directAccessGrantsEnabled: true }],
    groups: [{ name: 'first' }],
    roles: { realm: [{ name: 'first-role' }] },
  }),
});
if (made.status !== 201) throw new Error(`${made.status} ${await made.text()}`);
const ada = await token(address!, 'big', 'ada', 'Correct-Horse-1');
const sid = claimsOf(ada['access_token']!)['sid']!;
const familyId = claimsOf(ada['refresh_token']!)['reuse_id'];
console.log({ sid, familyId });
await service.stop();
const [realm] = await rows('SELECT id FROM realm WHERE name = $1', 'big');
const realmId = String(realm!['id']);
const numbers = (n: number) =>
  `WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${n})`;
const key = (kind: string) => `'${kind}-' || n || '-aaaa-bbbb-cccc-dddddddddddd'`;
await run(`${numbers(SIZES.clients)} INSERT INTO client (id, realm_id, client_id, doc)
  SELECT ${key('cl')}, realm_id, 'client-' || n, replace(replace(doc, one.id, ${key('cl')}), '"web"', '"client-' || n || '"')
  FROM number, (SELECT * FROM client WHERE client_id = 'web') AS one`);
await run(`${numbers(SIZES.groups)} INSERT INTO realm_group (id, realm_id, parent_id, name, doc)
  SELECT ${key('gr')}, realm_id, CASE WHEN n % 10 = 0 THEN NULL ELSE 'gr-' || (n - n % 10 + 10) || '-aaaa-bbbb-cccc-dddddddddddd' END, 'group-' || n,
  replace(replace(doc, one.id, ${key('gr')}), '"first"', '"group-' || n || '"')
  FROM number, (SELECT * FROM realm_group WHERE name = 'first') AS one`);
await run(
  `UPDATE realm_group SET doc = replace(doc, '"isDefault"', '"parentId":"' || parent_id || '","isDefault"') WHERE parent_id IS NOT NULL`,
);
await run(`${numbers(SIZES.roles)} INSERT INTO role (id, realm_id, client_uuid, name, doc)
  SELECT ${key('ro')}, realm_id, NULL, 'role-' || n, replace(replace(doc, one.id, ${key('ro')}), '"first-role"', '"role-' || n || '"')
  FROM number, (SELECT * FROM role WHERE name = 'first-role') AS one`);
await run(`${numbers(SIZES.users)} INSERT INTO account (id, realm_id, username, email, first_name, last_name, enabled, email_verified, doc)
  SELECT ${key('us')}, realm_id, 'user-' || n, 'user-' || n || '@example.test', 'given', 'family', 1, 0, replace(doc, one.id, ${key('us')})
  FROM number, (SELECT * FROM account WHERE username = 'ada') AS one`);
await run(`INSERT INTO user_role (user_id, role_id, username) SELECT account.id, role.id, account.username FROM account, role
  WHERE account.realm_id = '${realmId}' AND account.username LIKE 'user-%' AND role.realm_id = account.realm_id AND role.name IN ('first-role', 'default-roles-big')`);
await run(`INSERT INTO user_group (user_id, group_id, username) SELECT account.id, realm_group.id, account.username FROM account, realm_group
  WHERE account.realm_id = '${realmId}' AND account.username LIKE 'user-%' AND realm_group.realm_id = account.realm_id AND realm_group.name = 'first'`);
const [user] = await rows(`SELECT * FROM account WHERE username = $1`, 'ada');
const userId = String(user!['id']);
const [session] = await rows('SELECT * FROM user_session WHERE user_id = $1', userId);
const [family] = await rows('SELECT * FROM token_family WHERE session_id = $1', session!['id']);
const sessions = Array.from({ length: SIZES.sessions }, () => ({ ...session!, id: like(session!['id']) }));
await copyRows('user_session', sessions);
await copyRows(
  'token_family',
  sessions.map(({ id }) => ({ ...family!, id: like(family!['id']), session_id: id })),
);
await run('ANALYZE');
const [webClient] = await rows(`SELECT id FROM client WHERE client_id = $1`, 'web');
const [firstGroup] = await rows(`SELECT id FROM realm_group WHERE name = $1`, 'first');
console.log('seeded');

service = startService();
[address] = await service.started;
const management = (await service.started)[1];
tokens = await token(address!);
const base = `${address}/admin/realms`;

type Call = { name: string; method?: string; path: string; body?: string };
const users = (n: number, prefix: string) =>
  Array.from({ length: n }, (_, i) => ({
    username: `${prefix}-${i}`,
    email: `${prefix}-${i}@example.test`,
    enabled: true,
    firstName: 'Some',
    lastName: 'Body',
    attributes: { department: [`d-${i % 100}`], note: ['x'.repeat(100)] },
    credentials: [
      {
        type: 'password',
        secretData: JSON.stringify({
          value: `${'A'.repeat(86)}==`,
          salt: 'c2FsdHNhbHRzYWx0c2FsdA==',
          additionalParameters: {},
        }),
        credentialData: JSON.stringify({
          hashIterations: 210000,
          algorithm: 'pbkdf2-sha512',
          additionalParameters: {},
        }),
      },
    ],
  }));
const bigRealm = (n: number) =>
  JSON.stringify({ realm: `imported-${n}`, enabled: true, users: users(n, 'u') });
const named = (n: number, kind: string) => Array.from({ length: n }, (_, i) => ({ name: `${kind}-${i}` }));
const partialImport = (what: string, records: object): Call => ({
  name: `partial import of ${what}`,
  method: 'POST',
  path: '/big/partialImport',
  body: JSON.stringify(records),
});
const calls: Call[] = [
  { name: 'nothing', path: '/big/users/count?username=ada' },
  { name: 'realm', path: '/big' },
  { name: 'realm again', path: '/big' },
  { name: 'clients, all', path: '/big/clients' },
  { name: 'clients, all again', path: '/big/clients' },
  { name: 'clients, page', path: '/big/clients?first=0&max=20' },
  { name: 'clients, search', path: '/big/clients?clientId=999&search=true' },
  { name: 'groups, all', path: '/big/groups?first=0&max=100000' },
  { name: 'groups, search', path: '/big/groups?search=99' },
  { name: 'groups count', path: '/big/groups/count' },
  { name: 'a group', path: `/big/groups/${String(firstGroup!['id'])}` },
  { name: 'roles, all', path: '/big/roles' },
  { name: 'a role', path: '/big/roles/role-99' },
  { name: 'available roles', path: `/big/users/${userId}/role-mappings/realm/available` },
  { name: 'composite roles of a user', path: `/big/users/${userId}/role-mappings/realm/composite` },
  { name: 'users max=-1', path: '/big/users?max=-1' },
  { name: 'users page 1000', path: '/big/users?max=1000&briefRepresentation=false' },
  { name: 'members max=-1', path: `/big/groups/${String(firstGroup!['id'])}/members?max=-1` },
  { name: 'users of a role', path: '/big/roles/first-role/users?max=-1' },
  { name: 'sessions of a client', path: `/big/clients/${String(webClient!['id'])}/user-sessions?max=-1` },
  { name: 'client-session-stats', path: '/big/client-session-stats' },
  { name: 'sessions of a user', path: `/big/users/${userId}/sessions` },
  { name: 'a new group', method: 'POST', path: '/big/groups', body: JSON.stringify({ name: 'another' }) },
  { name: 'realm after a change', path: '/big/groups/count' },
  { name: 'a new role', method: 'POST', path: '/big/roles', body: JSON.stringify({ name: 'another' }) },
  { name: 'PUT realm', method: 'PUT', path: '/big', body: JSON.stringify({ displayName: 'Big' }) },
  { name: 'delete a role with 100,000 users', method: 'DELETE', path: '/big/roles/first-role' },
  { name: 'end one session', method: 'DELETE', path: `/big/sessions/${sid}` },
  { name: 'logout of a user with 100,000 sessions', method: 'POST', path: `/big/users/${userId}/logout` },
  partialImport('20,000 roles', { roles: { realm: named(count(20_000), 'imported') } }),
  partialImport('20,000 groups', { groups: named(count(20_000), 'imported') }),
  partialImport('20,000 groups under one', {
    groups: [{ name: 'imported', subGroups: named(count(20_000), 'imported') }],
  }),
  partialImport('5,000 users', { users: users(count(5_000), 'p') }),
  {
    name: 'import of 20,000 roles and groups',
    method: 'POST',
    path: '',
    body: JSON.stringify({
      realm: 'imported',
      roles: { realm: named(count(20_000), 'role') },
      groups: [...named(count(20_000), 'flat'), { name: 'top', subGroups: named(count(20_000), 'nested') }],
    }),
  },
  { name: 'import of 1,000 users', method: 'POST', path: '', body: bigRealm(1_000) },
  { name: 'import of 20,000 users', method: 'POST', path: '', body: bigRealm(count(20_000)) },
  { name: 'delete the imported realm', method: 'DELETE', path: `/imported-${count(20_000)}` },
  { name: 'realms', path: '' },
  { name: 'delete a client', method: 'DELETE', path: `/big/clients/${String(webClient!['id'])}` },
  { name: 'delete the realm', method: 'DELETE', path: '/big' },
];

const tooLong: string[] = [];

async function measured(call: Call, target: string, headers: Record<string, string>) {
  await watched();
  // A probe that refreshes all the time.
  let running = true;
  const waits: number[] = [];
  let failed = 0;
  const probe = (async () => {
    let last = await token(address!);
    while (running) {
      const begun = performance.now();
      const answer = await fetch(`${address}/realms/master/protocol/openid-connect/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          client_id: 'admin-cli',
          refresh_token: last['refresh_token']!,
        }),
      });
      const body = (await answer.json()) as Record<string, string>;
      waits.push(performance.now() - begun);
      if (answer.status === 200) last = body;
      else failed++;
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, 150));
  await watched();
  waits.length = 0;
  const begun = performance.now();
  const answer = await fetch(target, {
    method: call.method ?? 'GET',
    headers,
    ...(call.body === undefined ? {} : { body: call.body }),
  });
  let bytes = 0;
  let text = '';
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (answer.status >= 400) text += Buffer.from(chunk);
  }
  const took = performance.now() - begun;
  await new Promise((resolve) => setTimeout(resolve, 30));
  const { longest, holds, rss } = await watched();
  running = false;
  await probe;
  if (longest > MOST_HELD_MS) tooLong.push(`${call.name} (${longest.toFixed(0)} ms)`);
  waits.sort((a, b) => a - b);
  console.log(
    call.name.padEnd(40),
    `${answer.status} ${text.slice(0, 80)}`.padEnd(5),
    `${took.toFixed(0)} ms`.padStart(9),
    `${(bytes / 1e6).toFixed(2)} MB`.padStart(9),
    `held ${longest.toFixed(0)} of ${HELD_MS} ms`.padStart(20),
    `${holds.length} holds > ${HELD_MS} ms`.padStart(20),
    `refresh worst ${(waits.at(-1) ?? 0).toFixed(0)} ms`.padStart(22),
    `${failed} failed, ${(rss / 1e6).toFixed(0)} MB`,
  );
}

await fetch(`${base}/big/users/count?username=ada`, { headers: auth() }); // The first call loads code.
for (const call of calls) {
  if (only !== undefined && !new RegExp(only).test(call.name)) continue;
  tokens = await token(address!);
  await measured(call, base + call.path, auth());
}
await measured({ name: 'metrics', path: '' }, `${management}/metrics`, {});
await service.stop();
for (const end of cleanUps) await end();
if (tooLong.length > 0) {
  console.error(`held the event loop for more than ${MOST_HELD_MS} ms: ${tooLong.join(', ')}`);
  process.exitCode = 1;
}
