import { platformPaths, readEnvFile, type Settings } from '../../config/index.ts';
import type { Secret } from '../../core/index.ts';

/**
 * Variables that affect the engine's programs instead of compose.yaml: which engine they reach, and which files and
 * libraries they load. They are ignored in `.env`, because a backup set can contain another `.env`, and the programs
 * receive secrets.
 */
const STEERING =
  /^(?:LD_|DYLD_|DOCKER_|COMPOSE_|CONTAINERS?_|PODMAN_|BUILDKIT_|PYTHON|(?:PATH|HOME|TMPDIR|XDG_\w+)$)/i;

/**
 * Returns the variables for compose.yaml: those of `.env`, and the secrets under the names that containers expect.
 * compose.yaml lists the names of these variables without values, so no further file and no argument contains a secret.
 * The process environment takes precedence over `.env`.
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
 * Returns the variables of `.env` that the process environment does not override. Compose programs receive them instead
 * of the file, because `docker compose` rejects some valid dotenv files and prints their contents.
 */
export function readFileVariables(settings: Settings): Readonly<Record<string, string>> {
  const values = [...readEnvFile(platformPaths(settings.dir).env)];
  return Object.fromEntries(
    values.filter(([name]) => process.env[name] === undefined && !STEERING.test(name)),
  );
}

/**
 * Replaces the variables in the name of an image, as compose programs do: `${NAME}`, with an optional default after `-`
 * or `:-`.
 */
export function resolveImage(image: string, settings: Settings): string {
  const variables = { ...process.env, ...composeEnvironment(settings) };
  return image.replace(
    /\$\{(\w+)(?::?-([^}]*))?\}/g,
    (_, name: string, otherwise: string | undefined) => variables[name] || (otherwise ?? ''),
  );
}
