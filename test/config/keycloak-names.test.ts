import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LoadOptions, loadSettings } from '../../src/config/index.ts';

const KEYCLOAK =
  'KC_DB_PASSWORD=db-1\nKC_BOOTSTRAP_ADMIN_USERNAME=root\nKC_BOOTSTRAP_ADMIN_PASSWORD=admin-1\n';

test('with service: keycloak, idkit reads the administrator and the database password from Keycloak’s variables', async () => {
  const settings = await load('service: keycloak\n', KEYCLOAK);
  assert.equal(settings.administrator.username, 'root');
  assert.equal(settings.administrator.password?.reveal(), 'admin-1');
  assert.equal(settings.databasePassword?.reveal(), 'db-1');
  assert.equal(settings.sources['IDKIT_ADMIN_PASSWORD'], '.env');
});

test('idkit’s variables take precedence over Keycloak’s, in every source', async () => {
  const own = 'IDKIT_ADMIN_PASSWORD=own-1\n';
  const settings = await load('service: keycloak\n', KEYCLOAK + own, {
    KC_BOOTSTRAP_ADMIN_PASSWORD: 'elsewhere',
    KC_DB_PASSWORD: 'db-2',
  });
  assert.equal(settings.administrator.password?.reveal(), 'own-1');
  // For the same variable, the process environment takes precedence over .env.
  assert.equal(settings.databasePassword?.reveal(), 'db-2');
  assert.equal(settings.sources['IDKIT_DATABASE_PASSWORD'], 'environment');
});

test('with service: idkit, idkit ignores Keycloak’s variables', async () => {
  const settings = await load('service: idkit\n', KEYCLOAK);
  assert.equal(settings.administrator.username, 'admin');
  assert.equal(settings.administrator.password, undefined);
  assert.equal(settings.databasePassword, undefined);
});

function load(yaml: string, envFile: string, env: NodeJS.ProcessEnv = {}) {
  const contents: LoadOptions['contents'] = {
    env: { file: '.env', bytes: Buffer.from(envFile) },
    yaml: { file: 'idkit.yaml', bytes: Buffer.from(yaml) },
  };
  return loadSettings({ dir: '/nowhere', env, contents });
}
