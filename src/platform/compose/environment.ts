import { platformPaths, readEnvFile, type Settings } from '../../config/index.ts';
import type { Secret } from '../../core/index.ts';

/**
 * Variables that change the programs idkit starts rather than compose.yaml: the engine that they reach, and the files
 * and libraries that they load. Only the process environment may set them. A backup set may contain another `.env`,
 * and the programs receive secrets.
 */
const STEERING =
  /^(?:LD_|DYLD_|DOCKER_|COMPOSE_|CONTAINERS?_|PODMAN_|BUILDKIT_|PYTHON|(?:PATH|HOME|TMPDIR|XDG_\w+)$)/i;

/**
 * Returns the variables of compose.yaml: those of `.env`, and the secrets under the names that containers expect. So
 * compose.yaml can name a variable without a value, and no file or argument contains a secret. The process environment
 * takes precedence over `.env`.
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
 * Returns the variables of `.env` that the process environment does not override, for a compose program that must not
 * read the file itself: `docker compose` rejects some valid dotenv files and prints their contents.
 */
export function readFileVariables(settings: Settings): Readonly<Record<string, string>> {
  const values = [...readEnvFile(platformPaths(settings.dir).env)];
  return Object.fromEntries(
    values.filter(([name]) => process.env[name] === undefined && !STEERING.test(name)),
  );
}

/** Fills in the variables of an image like a compose program: `${NAME}`, and a default after `-` or `:-`. */
export function resolveImage(image: string, settings: Settings): string {
  const variables = { ...process.env, ...composeEnvironment(settings) };
  return image.replace(
    /\$\{(\w+)(?::?-([^}]*))?\}/g,
    (_, name: string, otherwise: string | undefined) => variables[name] || (otherwise ?? ''),
  );
}
