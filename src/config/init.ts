import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Random, Secret, systemRandom } from '../core/index.ts';
import { createFile, writeFault } from '../files/index.ts';
import { renderPlatformFiles } from './compose/files.ts';
import { renderEnvValue } from './environment/file.ts';
import { GENERATED_MARK } from './environment/write.ts';
import { checkMasterKey } from './master-key.ts';
import { platformPaths } from './paths.ts';
import type { SettingRow } from './settings/row.ts';
import type { PlatformPaths } from './settings/settings.ts';
import { SETTINGS } from './settings/table.ts';
import { renderDefaultYaml } from './yaml/template.ts';

/** The result of `initPlatform`. Paths are absolute. */
export interface InitResult {
  paths: PlatformPaths;
  created: readonly string[];
  /** Files that existed and were not changed. */
  kept: readonly string[];
  /** The variables that idkit generated for a new `.env`. Empty if `.env` was kept. */
  generated: readonly string[];
}

/**
 * Creates a platform directory with `idkit.yaml`, `.env` (0600), `config/`, `import/`, `data/` and the backup root
 * (0700). For containers it also creates `compose.yaml`, the proxy's configuration and an application. It starts no
 * process and overwrites no file. `.env` gets the values of `env`, and generated values for the other variables.
 *
 * @throws IDKIT_MASTER_KEY_INVALID before anything is written; IDKIT_DIRECTORY_NOT_WRITABLE; IDKIT_NO_SPACE
 */
export function initPlatform(
  dir: string,
  options: {
    runtime?: 'embedded' | 'compose';
    service?: 'idkit' | 'keycloak';
    /** The reverse proxy of a container platform. */
    proxy?: 'caddy' | 'nginx';
    env?: NodeJS.ProcessEnv;
    random?: Random;
  } = {},
): InitResult {
  const random = options.random ?? systemRandom;
  const { runtime = 'embedded', service = 'idkit', proxy = 'caddy' } = options;
  const paths = platformPaths(dir);
  const secrets = chooseSecrets(options.env ?? process.env, random, runtime, service);
  const created: string[] = [];
  const kept: string[] = [];
  const note = (path: string, outcome: 'created' | 'kept'): void => {
    (outcome === 'created' ? created : kept).push(path);
  };

  createDirectory(dir, 0o755);
  for (const path of [paths.config, paths.import, paths.data, join(dir, 'backups')]) {
    createDirectory(path, path === paths.config ? 0o755 : 0o700);
  }
  const platform = runtime === 'compose' ? renderPlatformFiles({ service, proxy }) : undefined;
  const yaml = renderDefaultYaml(runtime, service, platform?.settings);
  // Write the secrets first, because a directory with idkit.yaml counts as complete.
  const env = createFile(paths.env, secrets.text);
  note(paths.env, env);
  for (const [name, text] of platform?.files ?? []) {
    const file = join(dir, name);
    createDirectory(dirname(file), 0o755);
    note(file, createFile(file, text, 0o644));
  }
  note(paths.yaml, createFile(paths.yaml, yaml, 0o644));
  return { paths, created, kept, generated: env === 'created' ? secrets.generated : [] };
}

function chooseSecrets(
  env: NodeJS.ProcessEnv,
  random: Random,
  runtime: 'embedded' | 'compose',
  service: 'idkit' | 'keycloak',
): { text: string; generated: string[] } {
  const generated: string[] = [];
  const lines = [
    '# The secrets of this platform. idkit rejects this file if other users can read it (mode 0600).',
    '# A backup can only be restored with the values that this file had when the backup was made.',
  ];
  const given = env['IDKIT_MASTER_KEY'];
  if (given) checkMasterKey(new Secret(given));
  const rows: readonly SettingRow[] = SETTINGS;
  for (const { env: key, initial } of rows) {
    if (key === undefined || initial === undefined) continue;
    if (initial.runtime !== undefined && initial.runtime !== runtime) continue;
    const value = env[key];
    if (!value && initial.generated) {
      generated.push(key);
      lines.push(GENERATED_MARK);
    }
    lines.push(`${key}=${renderEnvValue(value || initial.value(random))}`);
  }
  if (runtime === 'compose') lines.push(...composeVariables(service));
  return { text: `${lines.join('\n')}\n`, generated };
}

function composeVariables(service: 'idkit' | 'keycloak'): readonly string[] {
  const management = service === 'keycloak' ? ' MANAGEMENT_PORT=' : '';
  return [
    '# Variables of compose.yaml; its defaults apply to those that are not set:',
    '# DATABASE_IMAGE= SERVICE_IMAGE= PROXY_IMAGE= APPLICATION_IMAGE=',
    `# SITE= HTTPS_PORT= SERVICE_PORT=${management} APPLICATION_PORT=   (and the same in idkit.yaml: baseUrl, applications)`,
    // Some compose programs do not support an empty default.
    ...(service === 'idkit' ? ['# If it is empty, a free port is used.', 'MANAGEMENT_PORT='] : []),
  ];
}

function createDirectory(path: string, mode: number): void {
  if (existsSync(path)) return;
  try {
    mkdirSync(path, { recursive: true, mode });
    chmodSync(path, mode);
  } catch (error) {
    throw writeFault(path, error);
  }
}
