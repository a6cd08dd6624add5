import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { loadIdkitError } from '../../program.ts';
import { makeDirectory, type Ran, run } from '../run.ts';
import { type ServedPlatform, servePlatform } from '../served-platform.ts';

/** Without it, a request fails after 10 s, which a busy machine can need. */
const PATIENCE = ['--timeout', '300'];

let platform: ServedPlatform;
let realm = '';
let count = 0;
before(async () => {
  platform = await servePlatform();
});
after(() => platform.close());

// Every test has its own realm with three users.
beforeEach(async () => {
  count += 1;
  realm = `acme-${count}`;
  const created = await run(['admin', 'api', 'POST', '', '--file', '-', ...PATIENCE], {
    cwd: platform.cwd,
    stdin: JSON.stringify({
      realm,
      enabled: true,
      roles: { realm: [{ name: 'auditor' }] },
      groups: [{ name: 'sales', subGroups: [{ name: 'a/b' }] }],
      users: ['alice', 'bob', 'carol'].map((username) => ({
        username,
        enabled: true,
        email: `${username}@example.test`,
        attributes: { city: ['Bern'] },
      })),
    }),
  });
  assert.equal(created.code, 0, created.stderr);
});

const idkit = (argv: readonly string[], more: Parameters<typeof run>[1] = {}): Promise<Ran> =>
  run([...argv, '--realm', realm, ...PATIENCE], { cwd: platform.cwd, ...more });

async function get(path: string): Promise<unknown> {
  const ran = await run(['admin', 'api', 'GET', `${realm}/${path}`, ...PATIENCE], { cwd: platform.cwd });
  assert.equal(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stdout);
}

const userOf = async (username: string) =>
  ((await get(`users?username=${username}&exact=true`)) as Record<string, unknown>[])[0];

const namesOf = async (path: string) =>
  ((await get(path)) as { username: string }[]).map(({ username }) => username);

function write(t: TestContext, content: string, name = 'users.csv'): string {
  const file = join(makeDirectory(t), name);
  writeFileSync(file, content);
  return file;
}

/** Returns the reports of the lines as `line result user`. */
const linesOf = (ran: Ran): readonly string[] =>
  ran
    .json()
    .filter(({ type }) => type === 'line')
    .map(({ line, result, user }) => `${line} ${result} ${user}`);

test('one command gives a role to 200 users of a file, and a second run changes nothing', async (t) => {
  const names = Array.from({ length: 200 }, (_, index) => `user-${index}`);
  const users = write(t, names.map((username) => JSON.stringify({ username })).join('\n'));
  const made = await idkit(['admin', 'user', 'import', users]);
  assert.match(made.stdout, /^200 created$/m, made.stderr);
  const file = write(t, ['username', ...names].join('\n'));
  const first = await idkit(['admin', 'bulk', 'add-role', 'auditor', file]);
  assert.deepEqual([first.code, first.stdout.trim().split('\n').at(-1)], [0, '200 added'], first.stderr);
  assert.equal((await namesOf('roles/auditor/users?max=300')).length, 200);
  const second = await idkit(['admin', 'bulk', 'add-role', 'auditor', file, '--json']);
  assert.deepEqual(second.result()['counts'], { unchanged: 200 });
  assert.deepEqual(
    linesOf(second),
    names.map((name, index) => `${index + 2} unchanged ${name}`),
    'in the order of the file',
  );
});

test('continues after a line that fails, reports it with its number and exits with 3', async (t) => {
  const file = write(t, 'username\nalice\nnobody\nbob\n');
  const ran = await idkit(['admin', 'bulk', 'add-role', 'auditor', file]);
  assert.equal(ran.code, 3);
  assert.equal(
    ran.stdout,
    [
      'line      2  added      alice',
      `line      3  failed     nobody: realm ${realm} has no user nobody`,
      'line      4  added      bob',
      '2 added, 1 failed',
      '',
    ].join('\n'),
  );
  assert.match(ran.stderr, /^finding: LINES_FAILED: 1 of 3 lines failed$/m);
});

test('--stop-on-error handles no line after the failing one', async (t) => {
  const file = write(t, 'username\nalice\nnobody\nbob\n');
  const ran = await idkit(['admin', 'bulk', 'add-role', 'auditor', file, '--stop-on-error', '--json']);
  assert.equal(ran.code, 1);
  assert.deepEqual(linesOf(ran), ['2 added alice', '3 failed nobody']);
  assert.match(
    ran.stderr,
    /stopped at line 3 \(nobody\): .*\nhint: correct the line and run the command again/,
  );
  assert.deepEqual(await namesOf('roles/auditor/users'), ['alice']);
});

test('--dry-run reports what would happen and changes nothing', async (t) => {
  const file = write(t, 'username\nalice\nnobody\n');
  const ran = await idkit(['admin', 'bulk', 'add-role', 'auditor', file, '--dry-run']);
  assert.match(ran.stdout, /^line +2 {2}would be added +alice$/m);
  assert.match(ran.stdout, /^dry run, nothing was changed: 1 added, 1 failed$/m);
  assert.deepEqual(await namesOf('roles/auditor/users'), []);
  for (const argv of [
    ['admin', 'bulk', 'disable', file],
    ['admin', 'bulk', 'delete', file],
    ['admin', 'bulk', 'add-group', '/sales', file],
    ['admin', 'user', 'import', write(t, 'username\nnew\n')],
  ])
    assert.match(
      (await idkit([...argv, '--dry-run'])).stdout,
      /^dry run, nothing was changed: 1 /m,
      argv.join(' '),
    );
  assert.deepEqual(await namesOf('users'), ['alice', 'bob', 'carol']);
  assert.equal((await userOf('alice'))?.['enabled'], true);
});

test('adds and removes roles of the realm and of a client', async (t) => {
  const file = write(t, 'username\nalice\nbob\n');
  const client = ['--client', 'realm-management'];
  assert.equal((await idkit(['admin', 'bulk', 'add-role', 'view-users', file, ...client])).code, 0);
  const [{ id }] = (await get('clients?clientId=realm-management')) as [{ id: string }];
  assert.deepEqual(await namesOf(`clients/${id}/roles/view-users/users`), ['alice', 'bob']);
  const removed = await idkit(['admin', 'bulk', 'remove-role', 'view-users', file, ...client, '--json']);
  assert.deepEqual(removed.result()['counts'], { removed: 2 });
  const again = await idkit(['admin', 'bulk', 'remove-role', 'view-users', file, ...client, '--json']);
  assert.deepEqual(again.result()['counts'], { unchanged: 2 });
  for (const [argv, message] of [
    [['add-role', 'none', file], /has no role none/],
    [['add-role', 'none', file, ...client], /client realm-management has no role none/],
    [['add-role', 'x', file, '--client', 'none'], /has no client none/],
    [['add-group', '/none', file], /has no group \/none/],
  ] as const) {
    const ran = await idkit(['admin', 'bulk', ...argv]);
    assert.equal(ran.code, 10, argv.join(' '));
    assert.match(ran.stderr, message);
  }
});

test('adds users to a group by its path, and removes them', async (t) => {
  const file = write(t, 'username\nalice\n');
  for (const [verb, counts, members] of [
    ['add-group', { added: 1 }, ['alice']],
    ['add-group', { unchanged: 1 }, ['alice']],
    ['remove-group', { removed: 1 }, []],
    ['remove-group', { unchanged: 1 }, []],
  ] as const) {
    const ran = await idkit(['admin', 'bulk', verb, '/sales', file, '--json']);
    assert.deepEqual(ran.result()['counts'], counts, ran.stderr);
    const [{ id }] = (await get('groups')) as [{ id: string }];
    assert.deepEqual(await namesOf(`groups/${id}/members`), members);
  }
});

test('enables and disables users, and keeps their other fields', async (t) => {
  const file = write(t, 'username,comment\nalice,left\n');
  const disabled = await idkit(['admin', 'bulk', 'disable', file, '--json']);
  assert.deepEqual(disabled.result()['counts'], { disabled: 1 }, disabled.stderr);
  const user = await userOf('alice');
  assert.deepEqual(
    [user?.['enabled'], user?.['email'], user?.['attributes']],
    [false, 'alice@example.test', { city: ['Bern'] }],
  );
  const enabled = await idkit(['admin', 'bulk', 'enable', file, '--json']);
  assert.deepEqual(enabled.result()['counts'], { enabled: 1 });
  assert.deepEqual((await idkit(['admin', 'bulk', 'enable', file, '--json'])).result()['counts'], {
    unchanged: 1,
  });
});

test('deletes users only after a confirmation, and a user that does not exist is unchanged', async (t) => {
  const file = write(t, 'username\nalice\nnobody\n');
  const refused = await idkit(['admin', 'bulk', 'delete', file]);
  assert.deepEqual([refused.code, /add --yes/.test(refused.stderr)], [2, true]);
  const no = await idkit(['admin', 'bulk', 'delete', file], { terminal: true, stdin: 'n\r' });
  assert.equal(no.code, 2);
  assert.match(no.stderr, new RegExp(`Delete the users in .*users.csv \\(2 lines\\) from realm ${realm}\\?`));
  assert.deepEqual(await namesOf('users'), ['alice', 'bob', 'carol']);
  const ran = await idkit(['admin', 'bulk', 'delete', file, '--yes', '--json']);
  assert.deepEqual(linesOf(ran), ['2 deleted alice', '3 unchanged nobody']);
  assert.deepEqual(await namesOf('users'), ['bob', 'carol']);
});

test('asks before it reads a pipe, whose lines it cannot count', async (t) => {
  const pipe = join(makeDirectory(t), 'users');
  execFileSync('mkfifo', [pipe]);
  const no = await idkit(['admin', 'bulk', 'delete', pipe, '--format', 'csv'], {
    terminal: true,
    stdin: 'n\r',
  });
  assert.equal(no.code, 2);
  assert.match(no.stderr, new RegExp(`Delete the users in .*users from realm ${realm}\\?`));
  assert.deepEqual(await namesOf('users'), ['alice', 'bob', 'carol']);
});

test('an id, a group or a role cannot name another record through dot segments of its path', async (t) => {
  const file = write(t, '{"id":".."}\n{"id":"."}\n{"id":""}\n{"username":"bob"}', 'users.jsonl');
  const ran = await idkit(['admin', 'bulk', 'disable', file, '--json']);
  assert.deepEqual(linesOf(ran), ['1 failed ..', '2 failed .', '3 failed ', '4 disabled bob'], ran.stderr);
  for (const argv of [
    ['add-group', '/sales/..'],
    ['add-role', '..'],
  ] as const) {
    const refused = await idkit(['admin', 'bulk', ...argv, write(t, 'username\nbob')]);
    assert.deepEqual([refused.code, /"\.\." is not a valid name/.test(refused.stderr)], [2, true], argv[0]);
  }
});

test('an interrupted run reports how far it came, and a second run finishes it', async (t) => {
  const names = Array.from({ length: 40 }, (_, index) => `user-${index}`);
  const file = write(t, ['username', ...names].join('\n'));
  const IdkitError = await loadIdkitError();
  const interrupt = new AbortController();
  const first = await idkit(['admin', 'user', 'import', file, '--parallel', '1'], {
    interrupt,
    onOutput: (text) => {
      if (/line +5 /.test(text))
        interrupt.abort(new IdkitError('IDKIT_INTERRUPTED', 'interrupted by Ctrl-C'));
    },
  });
  assert.equal(first.code, 130);
  assert.match(first.stderr, /stopped after \d+ lines: interrupted by Ctrl-C/);
  assert.match(first.stderr, /hint: run the command again; finished lines are unchanged/);
  const finished = /^(\d+) created; stopped before the end of the file$/m.exec(first.stdout);
  assert.ok(Number(finished?.[1]) >= 4, first.stdout);
  const second = await idkit(['admin', 'user', 'import', file]);
  assert.equal(second.code, 0, second.stderr);
  assert.equal((await namesOf('users?max=100')).length, 43);
});

test('finds users by the column id', async (t) => {
  const user = await userOf('bob');
  const file = write(t, `id\n${user?.['id']}\nnone\n`);
  const ran = await idkit(['admin', 'bulk', 'disable', file, '--json']);
  assert.deepEqual(linesOf(ran), [`2 disabled ${user?.['id']}`, '3 failed none']);
});

test('imports users from CSV with typed columns, attributes, groups and credentials', async (t) => {
  const credentials = JSON.stringify([{ type: 'password', value: 'Import-Secret-1', temporary: true }]);
  const file = write(
    t,
    [
      'username;email;firstName;enabled;emailVerified;attributes.city;groups;credentials',
      `dave;dave@example.test;Dave;no;TRUE;Thun;/sales;"${credentials.replaceAll('"', '""')}"`,
      'erin;;;;;;;',
    ].join('\r\n'),
  );
  const ran = await idkit(['admin', 'user', 'import', file]);
  assert.equal(ran.code, 0, ran.stdout + ran.stderr);
  assert.doesNotMatch(ran.stdout + ran.stderr, /Import-Secret/);
  const dave = await userOf('dave');
  assert.deepEqual(
    [dave?.['email'], dave?.['firstName'], dave?.['enabled'], dave?.['emailVerified'], dave?.['attributes']],
    ['dave@example.test', 'Dave', false, true, { city: ['Thun'] }],
  );
  const kept = (await get(`users/${dave?.['id']}/credentials`)) as { type: string }[];
  assert.deepEqual(
    kept.map(({ type }) => type),
    ['password'],
  );
  assert.equal((await userOf('erin'))?.['enabled'], true);
});

test('an import reads the lists of -o csv back as the same lists', async (t) => {
  const fields = 'username,email,attributes.city,requiredActions';
  const file = write(
    t,
    [
      'username,attributes.city,requiredActions',
      'dora,"[""Bern"",""Thun""]",UPDATE_PASSWORD|VERIFY_EMAIL',
      'emil,[Bern],',
      'fred,+41 79,',
      "gina,'=1+1,",
    ].join('\n'),
  );
  assert.equal((await idkit(['admin', 'user', 'import', file])).code, 0);
  assert.deepEqual((await userOf('dora'))?.['attributes'], { city: ['Bern', 'Thun'] });
  assert.deepEqual((await userOf('emil'))?.['attributes'], { city: ['[Bern]'] });
  assert.deepEqual((await userOf('gina'))?.['attributes'], { city: ['=1+1'] });
  const listed = await idkit(['admin', 'user', 'list', '-o', 'csv', '--fields', fields]);
  assert.equal(listed.code, 0, listed.stderr);
  const same = await idkit(['admin', 'user', 'import', write(t, listed.stdout), '--json']);
  assert.deepEqual(same.result()['counts'], { unchanged: 7 }, same.stdout);
  assert.equal((await idkit(['admin', 'bulk', 'delete', write(t, 'username\ndora'), '--yes'])).code, 0);
  assert.equal((await idkit(['admin', 'user', 'import', write(t, listed.stdout)])).code, 0);
  const { attributes, requiredActions = [] } = ((await userOf('dora')) ?? {}) as Record<string, string[]>;
  assert.deepEqual(attributes, { city: ['Bern', 'Thun'] });
  assert.deepEqual(requiredActions.toSorted(), ['UPDATE_PASSWORD', 'VERIFY_EMAIL']);
});

test('an import leaves an equal user unchanged, reports another value, and changes it with --update', async (t) => {
  const same = write(t, 'username,email,attributes.city\nALICE,Alice@Example.test,Bern\n');
  assert.deepEqual((await idkit(['admin', 'user', 'import', same, '--json'])).result()['counts'], {
    unchanged: 1,
  });
  const other = write(t, 'username,email,attributes.dept\nalice,new@example.test,it\n');
  const refused = await idkit(['admin', 'user', 'import', other]);
  assert.equal(refused.code, 3);
  assert.match(
    refused.stdout,
    /exists with another email, attributes\.dept; --update changes existing users/,
  );
  const updated = await idkit(['admin', 'user', 'import', other, '--update', '--json']);
  assert.deepEqual(updated.result()['counts'], { updated: 1 }, updated.stderr);
  const alice = await userOf('alice');
  assert.deepEqual(
    [alice?.['email'], alice?.['attributes']],
    ['new@example.test', { city: ['Bern'], dept: ['it'] }],
  );
});

test('an import rejects a column for passwords and unknown columns before it changes anything', async (t) => {
  for (const [header, message] of [
    ['username,password', /the column password is not allowed.*\nhint: use a column credentials/],
    ['username,firstname', /the column firstname is not a field of a user\nhint: did you mean firstName\?/],
    ['email', /has no column username/],
  ] as const) {
    const ran = await idkit(['admin', 'user', 'import', write(t, `${header}\nzoe,x\n`)]);
    assert.equal(ran.code, 2, header);
    assert.match(ran.stderr, message);
  }
  const names = await idkit(['admin', 'bulk', 'enable', write(t, 'alice\nbob\n')]);
  assert.match(names.stderr, /no column username or id; its first line is alice\nhint: the first line/);
  // The quote on line 3 is not closed: line 2 must not be imported either.
  const broken = await idkit(['admin', 'user', 'import', write(t, 'username\nzoe\n"x\n')]);
  assert.deepEqual([broken.code, /line 3: a quote is not closed/.test(broken.stderr)], [2, true]);
  assert.deepEqual(await namesOf('users'), ['alice', 'bob', 'carol']);
});

test('a line that the service rejects fails with its text, and shows no password', async (t) => {
  const lines = [
    { username: 'zoe', email: 'alice@example.test' },
    { username: 'yan', nonsense: true },
    { username: 'ulf', email: 'no address' },
    { username: 'xia', realmRoles: ['auditor'] },
    { email: 'w@example.test' },
    { username: 'val', credentials: [{ type: 'password', value: 'Top-Secret-1', nonsense: 1 }] },
  ];
  const file = write(t, lines.map((line) => JSON.stringify(line)).join('\n'), 'users.jsonl');
  const ran = await idkit(['admin', 'user', 'import', file]);
  assert.equal(ran.code, 3);
  assert.match(ran.stdout, /^line +1 {2}failed +zoe: .*same email \(409\)$/m);
  assert.match(ran.stdout, /^line +2 {2}failed +yan: .*nonsense.* \(400\)$/m);
  assert.match(ran.stdout, /^line +3 {2}failed +ulf: email must be an email address \(400\)$/m);
  assert.match(ran.stdout, /^line +4 {2}failed +xia: realmRoles is not applied to a user; assign roles/m);
  assert.match(ran.stdout, /^line +5 {2}failed +: the line has no username$/m);
  assert.match(ran.stdout, /^line +6 {2}failed +val: /m);
  assert.doesNotMatch(ran.stdout + ran.stderr, /Top-Secret/);
  for (const credentials of ['Top-Secret-2', ['Top-Secret-3'], [{ type: 'password', value: 76543210 }]]) {
    const wrong = await idkit(['admin', 'user', 'import', '-'], {
      stdin: JSON.stringify({ username: 'tom', credentials }),
    });
    assert.equal(wrong.code, 3);
    assert.match(wrong.stdout, /^line +1 {2}failed +tom: credentials/m);
    assert.doesNotMatch(wrong.stdout + wrong.stderr, /Top-Secret|76543210/);
  }
});

test('reads stdin, and names a file that does not exist', async () => {
  const ran = await idkit(['admin', 'bulk', 'disable', '-'], { stdin: 'username\nalice\n' });
  assert.match(ran.stdout, /^1 disabled$/m, ran.stderr);
  const missing = await idkit(['admin', 'bulk', 'disable', '/none.csv']);
  assert.deepEqual([missing.code, /the file \/none\.csv does not exist/.test(missing.stderr)], [10, true]);
  assert.equal((await idkit(['admin', 'bulk', 'disable', '-', '--format', 'xml'])).code, 2);
  assert.equal((await idkit(['admin', 'bulk', 'disable', '/tmp'])).code, 2);
});

test('on a terminal the lines show the progress; elsewhere stderr does', async (t) => {
  const file = write(t, 'username\nalice\n');
  const terminal = await idkit(['admin', 'bulk', 'disable', file], { terminal: true });
  assert.doesNotMatch(terminal.stderr, /Disable the users/);
  const redirected = await idkit(['admin', 'bulk', 'enable', file]);
  assert.match(redirected.stderr, /^done Enable the users \(.*\): 1 line$/m);
});
