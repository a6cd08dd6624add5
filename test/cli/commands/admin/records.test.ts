import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitUntil } from '../../../wait-until.ts';
import { run } from '../../run.ts';
import { type Acme, serveAcme } from './acme.ts';

let acme: Acme;
let dir: string;
before(async () => {
  acme = await serveAcme();
  dir = mkdtempSync(join(tmpdir(), 'idkit-records-'));
});
after(async () => {
  await acme.close();
  rmSync(dir, { recursive: true, force: true });
});

const fieldsOf = (result: Record<string, unknown>, name: string) => result[name] as Record<string, unknown>;

test('every kind of record can be created, read, listed, changed and deleted by its name', async () => {
  const kinds = [
    { noun: 'user', name: 'ann', set: 'firstName=Ann', plural: 'users', field: 'username' },
    { noun: 'role', name: 'editor', set: 'description=Edits', plural: 'roles', field: 'name' },
    { noun: 'client', name: 'web', set: 'name=Shop', plural: 'clients', field: 'clientId' },
    {
      noun: 'client-scope',
      name: 'orders',
      set: 'description=Orders',
      plural: 'clientScopes',
      field: 'name',
    },
  ];
  for (const { noun, name, set, plural, field } of kinds) {
    await acme.succeed(`${noun} create ${name}`);
    assert.ok(
      (await acme.list(`${noun} list`)).some((record) => record[field] === name),
      noun,
    );
    const listed = (await acme.succeed(`${noun} list`))[plural] as Record<string, unknown>[];
    assert.ok(
      listed.some((record) => record[field] === name),
      noun,
    );
    const [path = '', value] = set.split('=');
    assert.deepEqual((await acme.succeed(`${noun} update ${name} --set ${set}`))['changed'], [path]);
    const shown = await acme.admin(`${noun} get ${name} -o json`);
    const record = JSON.parse(shown.stdout) as Record<string, unknown>;
    assert.deepEqual([record[field], record[path]], [name, value], shown.stderr);
    const byId = JSON.parse((await acme.admin(`${noun} get ${record['id']} -o json`)).stdout || '{}');
    if (noun !== 'role') assert.equal(byId[field], name, noun);
    assert.match((await acme.admin(`${noun} get ${name}`)).stdout, new RegExp(`^${field} +${name}\\n`));
    assert.equal((await acme.admin(`${noun} get ${name} -o name`)).stdout, `${name}\n`);
    await acme.succeed(`${noun} delete ${name} --yes`);
    const gone = await acme.admin(`${noun} get ${name}`);
    assert.equal(gone.code, 10, noun);
    assert.match(gone.stderr, /error IDKIT_NOT_FOUND: realm acme has no [\w ]+ \w+\n/);
  }
});

test('realms are created, changed, disabled, enabled and deleted', async () => {
  await acme.succeed('realm create globex');
  await acme.succeed('realm update globex --set accessTokenLifespan=120 --set displayName=Globex');
  const { realm } = await acme.succeed('realm get globex');
  const { accessTokenLifespan, displayName } = realm as Record<string, unknown>;
  assert.deepEqual([accessTokenLifespan, displayName], [120, 'Globex']);
  await acme.succeed('realm disable globex');
  assert.equal(fieldsOf(await acme.succeed('realm get globex'), 'realm')['enabled'], false);
  await acme.succeed('realm enable globex');
  assert.equal(fieldsOf(await acme.succeed('realm get globex'), 'realm')['enabled'], true);
  await acme.succeed('realm delete globex --yes');
  const gone = await acme.admin('realm get globex');
  assert.deepEqual([gone.code, gone.stderr.includes('the service has no realm globex')], [10, true]);
});

test('--file reads JSON and YAML, also from stdin, and --set changes its fields', async () => {
  const file = join(dir, 'user.yaml');
  writeFileSync(file, 'email: bob@example.org\nattributes:\n  team: [blue]\n');
  await acme.succeed(`user create bob --file ${file} --set attributes.floor=3`);
  const { user } = await acme.succeed('user get bob');
  const { email, attributes, enabled } = user as Record<string, unknown>;
  assert.deepEqual([email, attributes, enabled], ['bob@example.org', { team: ['blue'], floor: ['3'] }, true]);
  await acme.succeed('user update bob --file -', { stdin: '{"lastName":"Peep"}' });
  assert.equal(fieldsOf(await acme.succeed('user get bob'), 'user')['lastName'], 'Peep');
  const named = await acme.succeed('role create --file -', { stdin: 'name: reader\n' });
  assert.equal(named['name'], 'reader');
  for (const [stdin, message] of [
    ['[]', /must contain one object/],
    ['{"a"', /is not JSON/],
    ['a: b: c', /is not YAML: .*line 1/],
  ] as const) {
    const { code, stderr } = await acme.admin('user update bob --file -', { stdin });
    assert.deepEqual([code, message.test(stderr)], [2, true], stderr);
  }
});

test('--set keeps texts, parses JSON, changes one attribute and removes it with null', async () => {
  await acme.succeed('user create cyd --set firstName=007 --set attributes.a.b=1');
  await acme.succeed(
    'user update cyd --set firstName=008 --set attributes.team=blue --set emailVerified=true',
  );
  const before = fieldsOf(await acme.succeed('user get cyd'), 'user');
  assert.deepEqual(
    [before['firstName'], before['attributes'], before['emailVerified']],
    ['008', { 'a.b': ['1'], team: ['blue'] }, true],
  );
  await acme.succeed('user update cyd --set attributes.team=null');
  assert.deepEqual(fieldsOf(await acme.succeed('user get cyd'), 'user')['attributes'], { 'a.b': ['1'] });
});

test('--add and --remove change one text of a list and keep the others', async () => {
  await acme.succeed('client create site --redirect-uri https://a.example/ https://b.example/');
  const uris = async () =>
    (fieldsOf(await acme.succeed('client get site'), 'client')['redirectUris'] as string[]).toSorted();
  await acme.succeed('client update site --add redirectUris=https://c.example/?x=1');
  assert.deepEqual(await uris(), ['https://a.example/', 'https://b.example/', 'https://c.example/?x=1']);
  await acme.succeed('client update site --add redirectUris=https://a.example/');
  assert.equal((await uris()).length, 3);
  await acme.succeed('client update site --remove redirectUris=https://a.example/ --add webOrigins=+');
  assert.deepEqual(await uris(), ['https://b.example/', 'https://c.example/?x=1']);
  for (const [change, code, message] of [
    [
      '--remove redirectUris=https://a.example/',
      10,
      /does not contain https:\/\/a\.example\/\nhint: .*https:\/\/b/,
    ],
    ['--add clientId=x', 2, /--add clientId: clientId is not a list\nhint: --set clientId=VALUE/],
    ['--add redirectUris', 2, /--add needs path=value, not "redirectUris"/],
  ] as const) {
    const ran = await acme.admin(`client update site ${change}`);
    assert.deepEqual([ran.code, message.test(ran.stderr)], [code, true], ran.stderr);
  }
  assert.equal((await uris()).length, 2);
});

test('a client is disabled and enabled, and keeps its secret and its settings', async () => {
  await acme.succeed('client create jobs --set description=Night');
  const { secret } = await acme.succeed('client secret get jobs');
  await acme.succeed('client disable jobs');
  const disabled = fieldsOf(await acme.succeed('client get jobs'), 'client');
  assert.deepEqual([disabled['enabled'], disabled['description']], [false, 'Night']);
  await acme.succeed('client enable jobs');
  assert.equal(fieldsOf(await acme.succeed('client get jobs'), 'client')['enabled'], true);
  assert.equal((await acme.succeed('client secret get jobs'))['secret'], secret);
});

test('a user is named by the email address, but a username takes precedence', async () => {
  await acme.succeed('user create fay --email fay@example.org');
  assert.equal(fieldsOf(await acme.succeed('user get FAY@example.org'), 'user')['username'], 'fay');
  await acme.succeed('user create hal@example.org --email hal@example.net');
  assert.equal(
    fieldsOf(await acme.succeed('user get hal@example.org'), 'user')['username'],
    'hal@example.org',
  );
  const missing = await acme.admin('user get fay@example');
  assert.deepEqual([missing.code, /realm acme has no user fay@example/.test(missing.stderr)], [10, true]);
});

test('an email address that several users have names none of them', async () => {
  await acme.succeed('realm update acme --set duplicateEmailsAllowed=true --set loginWithEmailAllowed=false');
  await acme.succeed('user create twin-a --email twin@example.org');
  await acme.succeed('user create twin-b --email twin@example.org');
  const ran = await acme.admin('user delete twin@example.org --yes');
  assert.equal(ran.code, 2);
  assert.match(ran.stderr, /2 users of realm acme have the email address.*\nhint: .*twin-a, twin-b/);
  await acme.succeed('user get twin-a');
});

test('--set rejects a secret, a broken path and a text without a value, and says why', async () => {
  await acme.succeed('client create vault');
  for (const [setting, message] of [
    ['secret=hunter2', /--set does not accept the secret secret\nhint: .*--file -/],
    ['clientId', /--set needs path=value, not "clientId"/],
    ['clientId.x=1', /--set clientId\.x: clientId is not an object/],
    ['__proto__.x=1', /is not a path of fields/],
  ] as const) {
    const { code, stderr } = await acme.admin(`client update vault --set ${setting}`);
    assert.deepEqual([code, message.test(stderr)], [2, true], stderr);
    assert.ok(!stderr.includes('hunter2'));
  }
});

test('delete needs --yes without a terminal, and asks on a terminal', async () => {
  await acme.succeed('user create dee');
  const refused = await acme.admin('user delete dee');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /without a terminal, --yes is needed to delete the user dee/);
  const no = await acme.admin('user delete dee', { terminal: true, stdin: 'n\n' });
  assert.match(no.stderr, /Delete the user dee of realm acme\? \[y\/N\]/);
  assert.equal(no.code, 2);
  assert.equal((await acme.admin('user get dee')).code, 0);
  assert.equal((await acme.admin('user delete dee', { terminal: true, stdin: 'y\n' })).code, 0);
});

test('an error of the service names the field and its text', async () => {
  await acme.succeed('user create eve --email eve@example.org');
  const taken = await acme.admin('user create eve');
  assert.equal(taken.code, 1);
  assert.match(
    taken.stderr,
    /^error IDKIT_FAILED: User exists with same username \(POST .* returned 409\)\n$/,
  );
  const short = await acme.admin('user create e --email nonsense');
  assert.match(short.stderr, /email must be an email address; username must have 3 to 255 characters \(POST/);
});

/** Writes an editor: a shell script that changes the file with sed commands, one for each time that it is opened. */
function editor(...commands: readonly string[]): string {
  const file = join(dir, `editor-${Math.random()}.sh`);
  const count = `${file}.count`;
  const cases = commands.map((command, index) => `${index}) ${command} ;;`).join('\n');
  writeFileSync(
    file,
    `n=$(cat ${count} 2>/dev/null || echo 0)\necho $((n + 1)) > ${count}\ncase $n in\n${cases}\nesac\n`,
  );
  chmodSync(file, 0o700);
  return `sh ${file}`;
}

const edit = (words: string, script: string) =>
  acme.admin(words, { terminal: true, env: { EDITOR: script } });

test('-e opens the record as YAML, and saves what the editor wrote', async () => {
  await acme.succeed('user create flo --email flo@example.org');
  const ran = await edit('user update flo -e', editor(`sed -i 's/^email: .*/email: new@example.org/' "$1"`));
  assert.deepEqual([ran.code, ran.stdout], [0, 'updated user flo in realm acme: email\n'], ran.stderr);
  assert.equal(fieldsOf(await acme.succeed('user get flo'), 'user')['email'], 'new@example.org');
  const unchanged = await edit('user update flo -e', editor('true'));
  assert.deepEqual([unchanged.code, unchanged.stdout], [0, 'nothing was changed\n']);
  const removed = await edit('user update flo -e', editor(`sed -i '/^email: /d' "$1"`));
  assert.equal(removed.code, 0, removed.stderr);
  assert.ok(!fieldsOf(await acme.succeed('user get flo'), 'user')['email']);
});

test('Ctrl-C in the editor does not end the command, because it is a key of the editor', async () => {
  await acme.succeed('role create keyed');
  const pressed = `kill -INT ${process.pid}; sleep 0.2; sed -i 's/^name: .*/&\\ndescription: saved/' "$1"`;
  const ran = await edit('role update keyed -e', editor(pressed));
  assert.equal(ran.code, 0, ran.stderr);
  assert.equal(fieldsOf(await acme.succeed('role get keyed'), 'role')['description'], 'saved');
});

test('the editor does not get the variables of idkit, which contain secrets', async () => {
  await acme.succeed('role create seen');
  const file = join(dir, 'environment');
  const env = { EDITOR: editor(`env > ${file}`), IDKIT_USER_PASSWORD: 'hunter22', LESS: 'R' };
  const ran = await acme.admin('role update seen -e', { terminal: true, env });
  assert.equal(ran.code, 0, ran.stderr);
  const seen = readFileSync(file, 'utf8');
  assert.match(seen, /^LESS=R$/m);
  assert.doesNotMatch(seen, /IDKIT_|hunter22/);
});

test('-e opens the editor again with the error of the parser or of the service', async () => {
  await acme.succeed('role create fixer');
  const ran = await edit(
    'role update fixer -e',
    editor(
      `sed -i 's/^name: .*/name: [/' "$1"`,
      `grep -q '^# error: .*YAML' "$1" && sed -i 's/^name: .*/name: fixer\\nnonsense: 1/' "$1"`,
      `grep -q '^# error: .*nonsense' "$1" && sed -i 's/^nonsense: .*/description: fixed/' "$1"`,
    ),
  );
  assert.equal(ran.code, 0, ran.stderr);
  assert.equal(fieldsOf(await acme.succeed('role get fixer'), 'role')['description'], 'fixed');
});

test('-e saves nothing if the record was changed in the meantime, and keeps the edited text', async () => {
  await acme.succeed('user create gus');
  const [opened, changed] = [join(dir, 'opened'), join(dir, 'changed')];
  const script = join(dir, 'race.sh');
  writeFileSync(
    script,
    `sed -i 's/^enabled: .*/enabled: false/' "$1"\ntouch ${opened}\nwhile [ ! -e ${changed} ]; do sleep 0.05; done\n`,
  );
  const ended = edit('user update gus -e', `sh ${script}`);
  await waitUntil('the editor is open', () => existsSync(opened));
  await acme.succeed('user update gus --set firstName=Gus');
  writeFileSync(changed, '');
  const { code, stderr } = await ended;
  assert.equal(code, 1);
  assert.match(stderr, /the edited text is in \/.*\/record\.yaml\n/);
  assert.match(stderr, /IDKIT_CHANGED: the user gus was changed while you edited it: firstName\n/);
  assert.equal(fieldsOf(await acme.succeed('user get gus'), 'user')['enabled'], true);
});

test('-e needs a terminal', async () => {
  const { code, stderr } = await acme.admin('user update eve -e');
  assert.equal(code, 2);
  assert.match(stderr, /--edit needs a terminal\nhint: use --set/);
});

test('without a choice of the realm, a new command exits with 2 and an old one uses master with a note', async () => {
  const here = { cwd: acme.cwd };
  const refused = await run(['admin', 'user', 'get', 'admin'], here);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /no realm is chosen\nhint: add --realm NAME, or set IDKIT_REALM; .* acme/);
  const old = await run(['admin', 'user', 'count'], here);
  assert.deepEqual([old.code, old.stdout], [0, '1\n']);
  assert.match(old.stderr, /note: no realm is chosen, so the command uses master/);
  const asked = await run(['admin', 'user', 'count'], { ...here, terminal: true, stdin: 'acme\n' });
  assert.match(asked.stderr, /Realm \(.*acme.*\): /);
  assert.equal(asked.code, 0);
  assert.notEqual(asked.stdout, '1\n');
  const unknown = await run(['admin', 'user', 'count'], { ...here, terminal: true, stdin: 'acne\n' });
  assert.equal(unknown.code, 10);
});
