import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { platformPaths, readEnvFile, type Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { replaceFile } from '../../files/index.ts';
import type { Called } from './call.ts';
import type { DefinedService, Definition } from './definition.ts';
import type { ComposeProgram } from './engine.ts';

// This file works around the limits of podman-compose, which never changes an existing container. Its exit code does
// not report a container that failed to start. Up to version 1.0.3, values in .env take precedence over the process
// environment.

/**
 * Maps a container's id to the fingerprint of its definition. This is only a cache: a container without an entry counts
 * as up to date.
 */
type MadeBy = Readonly<Record<string, string>>;

/** Matches `${NAME}`, `$NAME` and forms with a default. `$$` is an escaped dollar sign. */
const VARIABLE = /\$(?:\$|\{(\w+)|(\w+))/g;

/** The newest version of podman-compose in which `.env` takes precedence over the process environment. */
const FILE_WINS = [1, 0, 3] as const;

/** Returns the names of the variables in a definition. */
function readVariables(definition: DefinedService['definition']): readonly string[] {
  return [...JSON.stringify(definition).matchAll(VARIABLE)].flatMap(
    ([, braced, bare]) => braced ?? bare ?? [],
  );
}

/**
 * Returns the names of the variables that a service uses, including those that it passes to the container without a
 * value.
 */
function findVariables({ definition }: DefinedService): readonly string[] {
  const { environment } = definition;
  const handedOn = Array.isArray(environment)
    ? environment.filter((entry) => !String(entry).includes('='))
    : Object.entries(environment ?? {}).flatMap(([name, value]) => (value === null ? [name] : []));
  return [...readVariables(definition), ...handedOn.map(String)];
}

/**
 * Returns a digest of everything that determines a container. If the digest changes, the container must be replaced.
 */
export function fingerprint(
  service: DefinedService,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const values = findVariables(service).map((name) => [name, environment[name] ?? null]);
  const text = JSON.stringify([service.definition, values]);
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Returns the fingerprint that was recorded for a container, or undefined if idkit on this platform did not create it.
 */
export async function findMadeBy(settings: Settings, id: string): Promise<string | undefined> {
  return (await readMadeBy(settings))[id];
}

/** Records the fingerprint of a container, and removes the records of containers that are not in `known`. */
export async function putMadeBy(
  settings: Settings,
  id: string,
  made: string,
  known: readonly string[],
): Promise<void> {
  const before = Object.entries(await readMadeBy(settings)).filter(([other]) => known.includes(other));
  const file = recordFile(settings);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  replaceFile(file, `${JSON.stringify({ ...Object.fromEntries(before), [id]: made })}\n`);
}

function recordFile(settings: Settings): string {
  return join(platformPaths(settings.dir).data, 'containers.json');
}

async function readMadeBy(settings: Settings): Promise<MadeBy> {
  try {
    return JSON.parse(await readFile(recordFile(settings), 'utf8')) as MadeBy;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT' || error instanceof SyntaxError) return {};
    throw error;
  }
}

/** Returns podman-compose's result with the exit code of the last podman process that it ran. */
export function endOfPodman(called: Called): Called {
  const codes = [...called.stdout.matchAll(/^exit code: (\d+)$/gm)].map(([, code]) => Number(code));
  return { ...called, code: called.code === 0 ? (codes.at(-1) ?? 0) : called.code };
}

/**
 * Checks that the container receives the values of the process environment.
 *
 * @throws IDKIT_SETTING that names a variable whose value this podman-compose would take from .env instead
 */
export function checkPrecedence(
  { version }: ComposeProgram,
  { file: composeFile }: Definition,
  service: DefinedService,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  if (version === undefined || isNewer(version, FILE_WINS)) return;
  const file = readEnvFile(join(dirname(composeFile), '.env'));
  const lost = readVariables(service.definition).find(
    (name) => file.has(name) && file.get(name) !== environment[name],
  );
  if (lost === undefined) return;
  throw new IdkitError(
    'IDKIT_SETTING',
    `podman-compose ${version} uses ${lost} from .env, but the process environment has another value`,
    { hints: [`change ${lost} in .env, or remove it from there`] },
  );
}

function isNewer(version: string, than: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  const at = than.findIndex((part, index) => part !== (parts[index] ?? 0));
  return at !== -1 && (parts[at] ?? 0) > (than[at] ?? 0);
}
