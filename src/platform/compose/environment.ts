import { platformPaths, readEnvFile, type Settings } from '../../config/index.ts';
import type { Secret } from '../../core/index.ts';

/**
 * Variables that steer the programs that are started here and not what compose.yaml makes of them: which engine they
 * reach, which files and libraries they load. They count where the operator sets them, in the process environment: `.env`
 * comes out of backup sets, and the secrets go where these say.
 */
const STEERING =
  /^(?:LD_|DYLD_|DOCKER_|COMPOSE_|CONTAINERS?_|PODMAN_|BUILDKIT_|PYTHON|(?:PATH|HOME|TMPDIR|XDG_\w+)$)/i;

/**
 * The variables of compose.yaml: what `.env` holds, and the secrets under the names that containers know them by, so
 * that compose.yaml names a variable without a value and no secret stands in a file or an argument. The process
 * environment wins over `.env`, as everywhere.
 */
export function composeEnvironment(settings: Settings): Readonly<Record<string, string>> {
  const { administrator, databasePassword, smoke, masterKey, masterKeyOld, baseUrl } = settings;
  const secrets: Record<string, Secret | undefined> = {
    IDKIT_MASTER_KEY: masterKey,
    IDKIT_MASTER_KEY_OLD: masterKeyOld,
    IDKIT_ADMIN_PASSWORD: administrator.password,
    IDKIT_SMOKE_CLIENT_SECRET: smoke.clientSecret,
    IDKIT_DATABASE_PASSWORD: databasePassword,
    POSTGRES_PASSWORD: databasePassword,
    KC_DB_PASSWORD: databasePassword,
    KC_BOOTSTRAP_ADMIN_PASSWORD: administrator.password,
  };
  const environment: Record<string, string> = Object.fromEntries(
    [...settings.environment].filter(([name]) => !STEERING.test(name)),
  );
  environment['IDKIT_ADMIN_USERNAME'] = administrator.username;
  if (baseUrl !== null) environment['IDKIT_BASE_URL'] = baseUrl;
  for (const [name, value] of Object.entries(secrets))
    if (value !== undefined) environment[name] = value.reveal();
  return environment;
}

/**
 * What `.env` holds and the process environment does not say otherwise, for a compose program that is kept from
 * reading it by itself: `docker compose` refuses some of what dotenv files may hold, and shows it.
 */
export function readFileVariables(settings: Settings): Readonly<Record<string, string>> {
  const values = [...readEnvFile(platformPaths(settings.dir).env)];
  return Object.fromEntries(
    values.filter(([name]) => process.env[name] === undefined && !STEERING.test(name)),
  );
}

/** The image of a service as compose programs fill in its variables: `${NAME}`, and a default after `-` or `:-`. */
export function resolveImage(image: string, settings: Settings): string {
  const variables = { ...process.env, ...composeEnvironment(settings) };
  return image.replace(
    /\$\{(\w+)(?::?-([^}]*))?\}/g,
    (_, name: string, otherwise: string | undefined) => variables[name] || (otherwise ?? ''),
  );
}
