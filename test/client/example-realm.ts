import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { readMetrics } from '../http/service.ts';
import { makePlace, post, readSecrets, runIdkit, type Service, startIdkit } from '../journey/idkit.ts';
import { waitUntil } from '../wait-until.ts';

/** A running `idkit serve` with the realm of examples/realm.json. */
export interface ExampleRealm {
  service: Service;
  address: string;
  issuer: string;
  /** Logs a user in with the password grant of the client `shop`, and returns the tokens. */
  logIn(username?: string): Promise<Record<string, unknown>>;
  /** Changes settings of the realm through the administrative API. */
  change(settings: Record<string, unknown>): Promise<void>;
  /**
   * Returns how many events of a type the service has counted in the realm: those with `error`, or by default those
   * without an error.
   */
  countEvents(event: string, error?: string): Promise<number>;
}

/** The credentials of a confidential client in examples/realm.json. */
export const ORDERS = { clientId: 'orders', clientSecret: 'change-me-orders-secret' };

/**
 * Starts the service. `edit` changes the text of the realm file before the import. `baseUrl` is the public address, if it
 * differs from the address of the service.
 */
export async function startExampleRealm(
  t: TestContext,
  edit: (text: string) => string = (text) => text,
  baseUrl?: string,
): Promise<ExampleRealm> {
  const cwd = makePlace(t);
  await runIdkit(['init'], { cwd });
  const file = readFileSync(new URL('../../examples/realm.json', import.meta.url), 'utf8');
  mkdirSync(join(cwd, 'idkit', 'import'), { recursive: true });
  writeFileSync(join(cwd, 'idkit', 'import', 'realm.json'), edit(file));
  const service = await startIdkit(t, { cwd, argv: baseUrl === undefined ? [] : ['--base-url', baseUrl] });
  const { address } = service;
  return {
    service,
    address,
    issuer: `${baseUrl ?? address}/realms/example`,
    async logIn(username = 'alice') {
      const { status, body } = await post(address, 'example', 'token', {
        grant_type: 'password',
        client_id: 'shop',
        username,
        password: `change-me-${username}`,
        scope: 'openid',
      });
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    },
    async change(settings) {
      const { IDKIT_ADMIN_USERNAME: username = '', IDKIT_ADMIN_PASSWORD: password = '' } = readSecrets(cwd);
      const form = { grant_type: 'password', client_id: 'admin-cli', username, password };
      const { body } = await post(address, 'master', 'token', form);
      const response = await fetch(`${address}/admin/realms/example`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${body['access_token']}`, 'content-type': 'application/json' },
        body: JSON.stringify(settings),
      });
      assert.equal(response.status, 204, await response.text());
    },
    async countEvents(event, error = '') {
      const text = await readMetrics(service);
      return text
        .split('\n')
        .filter((line) => line.startsWith('keycloak_user_events_total{'))
        .filter((line) => line.includes('realm="example"'))
        .filter((line) => line.includes(`event="${event}"`) && line.includes(`error="${error}"`))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    },
  };
}

/** Resolves as soon as the condition holds. Rejects after two minutes. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string | (() => string),
): Promise<void> {
  const seen = typeof what === 'string' ? undefined : what;
  const name = typeof what === 'string' ? what : 'the condition holds';
  await waitUntil(name, holds, { seconds: 120, every: 10, ...(seen === undefined ? {} : { seen }) });
}
