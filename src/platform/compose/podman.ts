import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { platformPaths, readEnvFile, replaceFile, type Settings } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import type { Called } from './call.ts';
import type { DefinedService, Definition } from './definition.ts';
import type { ComposeProgram } from './engine.ts';

// What podman-compose leaves to idkit: it never changes a container that is there, does not tell by its exit code that
// one did not start, and up to 1.0.3 takes the values of .env before those of the process environment.

/** By a container's id: the fingerprint of the definition that it was made by. A cache: unknown ones count as fitting. */
type MadeBy = Readonly<Record<string, string>>;

/** `${NAME}`, `$NAME` and their forms with a default; `$$` is a dollar. */
const VARIABLE = /\$(?:\$|\{(\w+)|(\w+))/g;

/** The newest version that lets `.env` win. */
const FILE_WINS = [1, 0, 3] as const;

/** The names of the variables that a definition has filled in. */
function readVariables(definition: DefinedService['definition']): readonly string[] {
  return [...JSON.stringify(definition).matchAll(VARIABLE)].flatMap(
    ([, braced, bare]) => braced ?? bare ?? [],
  );
}

/** The names of the variables in a service's definition, and of those that it hands on without a value. */
function findVariables({ definition }: DefinedService): readonly string[] {
  const { environment } = definition;
  const handedOn = Array.isArray(environment)
    ? environment.filter((entry) => !String(entry).includes('='))
    : Object.entries(environment ?? {}).flatMap(([name, value]) => (value === null ? [name] : []));
  return [...readVariables(definition), ...handedOn.map(String)];
}

/** What a container of the service is made by, as one short text: another one means that it must be made anew. */
export function fingerprint(
  service: DefinedService,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const values = findVariables(service).map((name) => [name, environment[name] ?? null]);
  const text = JSON.stringify([service.definition, values]);
  return createHash('sha256').update(text).digest('hex');
}

/** The fingerprint that a container was made by, where this platform's idkit made it. */
export async function findMadeBy(settings: Settings, id: string): Promise<string | undefined> {
  return (await readMadeBy(settings))[id];
}

/** Keeps what a container was made by, and forgets those that are not in `known`. */
export async function putMadeBy(
  settings: Settings,
  id: string,
  made: string,
  known: readonly string[],
): Promise<void> {
  const before = Object.entries(await readMadeBy(settings)).filter(([other]) => known.includes(other));
  const file = recordFile(settings);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  replaceFile(file, `${JSON.stringify({ ...Object.fromEntries(before), [id]: made })}\n`, 0o600);
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

/** What podman-compose ended with, as the last podman that it ran did. */
export function endOfPodman(called: Called): Called {
  const codes = [...called.stdout.matchAll(/^exit code: (\d+)$/gm)].map(([, code]) => Number(code));
  return { ...called, code: called.code === 0 ? (codes.at(-1) ?? 0) : called.code };
}

/**
 * A value that the process environment changes must reach the container.
 *
 * @throws IDKIT_SETTING that names a variable of the service for which this podman-compose would take the one of .env
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
    `podman-compose ${version} takes ${lost} from .env, and the process environment says otherwise`,
    { hints: [`change ${lost} in .env, or take it out of there`] },
  );
}

function isNewer(version: string, than: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  const at = than.findIndex((part, index) => part !== (parts[index] ?? 0));
  return at !== -1 && (parts[at] ?? 0) > (than[at] ?? 0);
}
