import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { matchPatterns } from '../../src/crypto/index.ts';
import { checkPassword, parsePasswordPolicy, passwordFault } from '../../src/model/index.ts';

async function faults(
  policy: string,
  password: string,
  username = 'alice',
  email = 'alice@example.test',
): Promise<string[]> {
  const candidate = { password, username, email };
  const parsed = parsePasswordPolicy(policy);
  const matches = await matchPatterns(parsed.regexPatterns.map((pattern) => ({ pattern, text: password })));
  return checkPassword(parsed, candidate, matches).map((one) => one.message);
}

test('parses the entries of a policy string (docs/keycloak/login.md#password-policy)', () => {
  assert.deepEqual(parsePasswordPolicy('length(8) and digits(1) and notUsername and passwordHistory(5)'), {
    length: 8,
    digits: 1,
    notUsername: true,
    passwordHistory: 5,
    regexPatterns: [],
    unknown: [],
  });
  assert.deepEqual(parsePasswordPolicy(undefined), { regexPatterns: [], unknown: [] });
  assert.deepEqual(parsePasswordPolicy(''), { regexPatterns: [], unknown: [] });
});

test("an entry without its number has Keycloak's default", () => {
  const policy = parsePasswordPolicy(
    'length and maxLength() and specialChars(undefined) and passwordHistory',
  );
  assert.deepEqual(
    [policy.length, policy.maxLength, policy.specialChars, policy.passwordHistory],
    [8, 64, 1, 3],
  );
});

test('lists the entries that are not enforced', () => {
  const policy = 'passwordBlacklist(x.txt) and maxAuthAge(300) and passwordAge(30) and own(1)';
  assert.deepEqual(parsePasswordPolicy(policy).unknown, [
    'passwordBlacklist(x.txt)',
    'passwordAge(30)',
    'own(1)',
  ]);
});

test('each entry rejects a password with the message that Keycloak returns', async () => {
  const cases: [string, string, string][] = [
    ['length(8)', 'short', 'Invalid password: minimum length 8.'],
    ['maxLength(4)', 'longer', 'Invalid password: maximum length 4.'],
    ['digits(2)', 'a1', 'Invalid password: must contain at least 2 numerical digits.'],
    ['lowerCase(1)', 'ABC1', 'Invalid password: must contain at least 1 lower case characters.'],
    ['upperCase(1)', 'abc1', 'Invalid password: must contain at least 1 upper case characters.'],
    ['specialChars(1)', 'aB1', 'Invalid password: must contain at least 1 special characters.'],
    ['notUsername', 'ALICE', 'Invalid password: must not be equal to the username.'],
    ['notContainsUsername', 'xAlice1', 'Invalid password: Can not contain the username.'],
    ['notEmail', 'Alice@Example.test', 'Invalid password: must not be equal to the email.'],
    ['regexPattern(^[a-z]+$)', 'abc1', 'Invalid password: fails to match regex pattern(s).'],
  ];
  for (const [policy, password, message] of cases)
    assert.deepEqual(await faults(policy, password), [message]);
  assert.deepEqual(passwordFault('History', 3), {
    key: 'invalidPasswordHistoryMessage',
    params: [3],
    message: 'Invalid password: must not be equal to any of last 3 passwords.',
  });
});

test("a fault has Keycloak's key and parameters (docs/keycloak/users.md#errors)", () => {
  const candidate = { password: 'x', username: 'a' };
  const [fault] = checkPassword(parsePasswordPolicy('length(8)'), candidate, () => true);
  assert.deepEqual(fault, {
    key: 'invalidPasswordMinLengthMessage',
    params: [8],
    message: 'Invalid password: minimum length 8.',
  });
});

test('accepts a password that satisfies all entries', async () => {
  const policy =
    'length(8) and maxLength(64) and digits(1) and lowerCase(1) and upperCase(1) and specialChars(1) and notUsername and notEmail and notContainsUsername and regexPattern([A-Za-z0-9-]+)';
  assert.deepEqual(await faults(policy, 'Correct-Horse-7'), []);
  assert.deepEqual(await faults('', ''), []);
});

test('rejects a password that does not match a pattern as a whole, and every password if a pattern is invalid', async () => {
  assert.equal((await faults('regexPattern([a-z]+)', 'abc')).length, 0);
  assert.equal((await faults('regexPattern([a-z]+)', 'abc1')).length, 1);
  assert.equal((await faults('regexPattern([a-z)', 'abc')).length, 1);
});

test('parses any text as a policy without an error', () => {
  fc.assert(fc.property(fc.string(), (text) => void parsePasswordPolicy(text)));
});

test('rejects the password within a second if matching a pattern would take forever', async () => {
  const before = process.threadCpuUsage();
  const refused = await faults('regexPattern((a+)+b)', 'a'.repeat(60));
  assert.deepEqual(refused, ['Invalid password: fails to match regex pattern(s).']);
  const { user, system } = process.threadCpuUsage(before);
  assert.ok(user + system < 1_000_000, `it took ${user + system} µs`);
});
