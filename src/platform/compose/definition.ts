import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { platformPaths, type Settings } from '../../config/index.ts';
import { IdkitError, isJsonObject } from '../../core/index.ts';
import { COMPONENT_ROLES, type ComponentRole } from '../contract.ts';

/** The content of compose.yaml, as far as idkit reads it. */
export interface Definition {
  /** The path of the compose file. */
  file: string;
  /** The platform directory, which relative paths in the file refer to. */
  dir: string;
  services: readonly DefinedService[];
}

/** One service of the compose file. */
export interface DefinedService {
  name: string;
  role: ComponentRole;
  /** The image as written in the file. It may contain variables. */
  image: string;
  /** The service's whole entry in the file. It may contain variables. */
  definition: Readonly<Record<string, unknown>>;
}

/** Returns the path of the compose file, which is in `staged` or else in the platform directory. */
export function definitionFile(settings: Settings, staged: string | undefined): string {
  const { compose } = platformPaths(settings.dir);
  const other = staged === undefined ? undefined : join(staged, 'compose.yaml');
  return other !== undefined && existsSync(other) ? other : compose;
}

/**
 * Reads the services of compose.yaml, in the order in which they start.
 *
 * @throws IDKIT_SETTING if the file is missing, is not a compose file, or lacks the services that idkit.yaml names
 */
export function readDefinition(settings: Settings, staged?: string): Definition {
  const file = definitionFile(settings, staged);
  if (!existsSync(file)) {
    throw new IdkitError('IDKIT_SETTING', `${file} is missing, but runtime: compose needs it`, {
      hints: ['idkit init --runtime compose writes one'],
    });
  }
  const services = readServices(file);
  const all = services.map((service) => ({ ...service, role: roleOf(settings, service.name) }));
  for (const role of ['database', 'service'] as const) {
    if (all.some((service) => service.role === role)) continue;
    throw new IdkitError(
      'IDKIT_SETTING',
      `${file} has no service "${nameOf(settings, role)}", but idkit.yaml names it as the ${role}`,
      { hints: [`its services are ${all.map(({ name }) => name).join(', ')}`] },
    );
  }
  const order = (role: ComponentRole) => COMPONENT_ROLES.indexOf(role);
  return {
    file,
    dir: settings.dir,
    services: all.toSorted((one, other) => order(one.role) - order(other.role)),
  };
}

/**
 * Returns the role of a service in compose.yaml: the database has the host name in the database's address, the token
 * service has the name of its kind, and the proxy has the name that `compose.proxy` sets.
 */
export function roleOf(settings: Settings, name: string): ComponentRole {
  if (name === nameOf(settings, 'database')) return 'database';
  if (name === settings.service) return 'service';
  return name === settings.compose.proxy ? 'proxy' : 'application';
}

/**
 * Returns the name in compose.yaml of the service with this role.
 *
 * @throws IDKIT_SETTING if the database's address contains no host
 */
export function nameOf(settings: Settings, role: 'database' | 'service'): string {
  if (role === 'service') return settings.service;
  const { database } = settings;
  const host = database.kind === 'postgres' ? (URL.parse(database.url)?.hostname ?? '') : '';
  if (host !== '') return host;
  throw new IdkitError(
    'IDKIT_SETTING',
    'runtime: compose needs database: postgres://user@SERVICE/name, where SERVICE is the database’s service in compose.yaml',
    { hints: ['idkit init --runtime compose writes postgres://idkit@database/idkit'] },
  );
}

function readServices(file: string): readonly Omit<DefinedService, 'role'>[] {
  let value: unknown;
  try {
    value = parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    throw new IdkitError('IDKIT_SETTING', `${file} cannot be read: ${why}`, { cause });
  }
  const services = isJsonObject(value) ? value['services'] : undefined;
  if (!isJsonObject(services)) throw new IdkitError('IDKIT_SETTING', `${file} has no services`);
  return Object.entries(services).map(([name, service]) => ({
    name,
    image: isJsonObject(service) && typeof service['image'] === 'string' ? service['image'] : '',
    definition: isJsonObject(service) ? service : {},
  }));
}
