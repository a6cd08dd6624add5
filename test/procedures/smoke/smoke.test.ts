import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadSettings, type Settings } from '../../../src/config/index.ts';
import { IdkitError, Secret } from '../../../src/core/index.ts';
import { renderJunit, type SmokeResult, smoke } from '../../../src/procedures/index.ts';
import { makeDirectory, makePlatform, procedureOptions } from '../platform.ts';
import { startApplication } from './applications.ts';

const outcomeOf = (result: SmokeResult, id: string) =>
  result.checks.filter((check) => check.id === id).map(({ outcome }) => outcome);

describe('smoke', () => {
  it('on a fresh platform, passes every check that applies, and says why the others do not apply', async (t) => {
    const platform = await makePlatform(t);
    const service = await platform.serve();
    const result = await smoke(await platform.load(), { ...procedureOptions(), deep: true });
    assert.deepEqual(result.findings, []);
    assert.equal(result.baseUrl, service.address);
    for (const id of [
      'discovery',
      'client-credentials',
      'token-signature',
      'token-issuer',
      'token-expiry',
      'readiness',
      'administrator-login',
      'rotation',
      'reuse',
      'console-login',
    ]) {
      assert.deepEqual(outcomeOf(result, id), ['passed'], id);
    }
    const rest = result.checks.filter(({ outcome }) => outcome === 'not-applicable');
    assert.deepEqual(
      rest.filter(({ id }) => id !== 'token-audience').map(({ id, detail }) => [id, detail]),
      [
        ['user-count', 'no expected user counts are given'],
        ['application-health', 'no application is configured'],
        ['application-protected', 'no application is configured'],
      ],
    );
  });

  it('logs the administrator out, so that no session is left behind', async (t) => {
    const platform = await makePlatform(t);
    const service = await platform.serve();
    const settings = await platform.load();
    await smoke(settings, procedureOptions());
    const token = await passwordToken(settings, service.address);
    const clients = `${service.address}/admin/realms/master/clients`;
    const headers = { authorization: `Bearer ${token}` };
    const [client] = (await (await fetch(`${clients}?clientId=admin-cli`, { headers })).json()) as {
      id: string;
    }[];
    const sessions = await fetch(`${clients}/${client!.id}/user-sessions`, { headers });
    if (sessions.status === 200) assert.equal(((await sessions.json()) as unknown[]).length, 1);
    else assert.equal(sessions.status, 501, 'sessions of a client are listed or named as not built');
  });

  it('checks the health and a protected page of applications, with and without a token', async (t) => {
    const platform = await makePlatform(t);
    const { baseUrl } = await platform.serve();
    const settings = await platform.load();
    const issuer = `${baseUrl}/realms/master`;
    const good = await startApplication(t, issuer);
    const sick = await startApplication(t, issuer, 'sick');
    const open = await startApplication(t, issuer, 'open');
    const applications = [
      { name: 'good', health: `${good}/health`, protected: `${good}/orders` },
      { name: 'sick', health: `${sick}/health` },
      { name: 'open', protected: `${open}/orders` },
    ];
    const result = await smoke({ ...settings, applications }, procedureOptions());
    const rows = result.checks.filter(({ id }) => id.startsWith('application-'));
    assert.deepEqual(
      rows.map(({ id, subject, outcome }) => `${subject} ${id.replace('application-', '')} ${outcome}`),
      [
        'good health passed',
        'good protected passed',
        'sick health failed',
        'sick protected not-applicable',
        'open health not-applicable',
        'open protected failed',
      ],
    );
    assert.equal(result.findings.length, 2);
  });

  it('compares user counts with the expected counts', async (t) => {
    const platform = await makePlatform(t, ['acme']);
    await platform.serve();
    const settings = await platform.load();
    const expectation = [
      { realm: 'master', users: 1 },
      { realm: 'acme', users: 1_000_000 },
    ];
    const result = await smoke(settings, { ...procedureOptions(), expectation });
    assert.deepEqual(outcomeOf(result, 'user-count'), ['passed', 'failed']);
    assert.match(result.findings[0]!.message, /the expected number is 1000000/);
  });

  it('reports wrong credentials as findings, and continues', async (t) => {
    const platform = await makePlatform(t);
    await platform.serve();
    const settings = await platform.load();
    const wrong: Settings = {
      ...settings,
      smoke: { ...settings.smoke, clientSecret: new Secret('wrong') },
      administrator: { ...settings.administrator, password: new Secret('wrong') },
    };
    const result = await smoke(wrong, procedureOptions());
    assert.deepEqual(outcomeOf(result, 'client-credentials'), ['failed']);
    assert.deepEqual(outcomeOf(result, 'token-signature'), ['not-applicable']);
    assert.deepEqual(outcomeOf(result, 'administrator-login'), ['failed']);
    assert.ok(!JSON.stringify(result).includes('"wrong"'));
  });

  it('fails for a realm that does not exist', async (t) => {
    const platform = await makePlatform(t);
    await platform.serve();
    const result = await smoke(await platform.load(), {
      ...procedureOptions(),
      realms: ['master', 'nowhere'],
    });
    assert.deepEqual(outcomeOf(result, 'discovery'), ['passed', 'failed']);
  });

  it('ends with IDKIT_UNREACHABLE if no service responds', async (t) => {
    const platform = await makePlatform(t);
    await assert.rejects(
      smoke(await platform.load(), { ...procedureOptions(), baseUrl: 'http://127.0.0.1:9' }),
      (error) => error instanceof IdkitError && error.code === 'IDKIT_UNREACHABLE' && error.exitCode === 15,
    );
  });

  it('fails if every check was skipped (exit code 1)', async (t) => {
    const platform = await makePlatform(t);
    const { address } = await platform.serve();
    const bare = await loadSettings({ dir: await makeDirectory(t, 'bare'), env: {} });
    // The settings contain neither a password nor a realm nor the management address of Keycloak.
    const settings: Settings = { ...bare, service: 'keycloak' };
    const result = await smoke(settings, { ...procedureOptions(), baseUrl: address, realms: [] });
    assert.deepEqual([result.passed, result.failed, result.findings], [0, 0, []]);
    assert.ok(result.notApplicable > 0);
    assert.deepEqual([result.failure?.code, result.failure?.exitCode], ['IDKIT_FAILED', 1]);
  });

  it('renders JUnit XML that names, counts and escapes every check', () => {
    const xml = renderJunit('smoke', {
      failed: 1,
      notApplicable: 1,
      checks: [
        { id: 'a', title: 'is good', outcome: 'passed', detail: '', milliseconds: 5 },
        {
          id: 'b',
          title: 'is <bad>',
          subject: 'a&b',
          outcome: 'failed',
          detail: '"\u0000"',
          milliseconds: 5,
        },
        { id: 'c', title: 'is absent', outcome: 'not-applicable', detail: 'no x', milliseconds: 0 },
      ],
    });
    assert.match(xml, /tests="3" failures="1" errors="0" skipped="1" time="0.010"/);
    assert.ok(xml.includes('name="is &lt;bad&gt; (a&amp;b)"'));
    assert.ok(xml.includes('<failure message="&quot;\ufffd&quot;"/>'));
    assert.ok(xml.includes('<skipped message="does not apply: no x"/>'));
  });
});

async function passwordToken(settings: Settings, address: string): Promise<string> {
  const answer = await fetch(`${address}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      client_id: 'admin-cli',
      username: settings.administrator.username,
      password: settings.administrator.password!.reveal(),
    }),
  });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { access_token: string }).access_token;
}
