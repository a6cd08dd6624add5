import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { KeycloakStore } from '../keycloak/store.ts';
import type { OpenOptions } from '../open.ts';
import { Platform } from '../platform.ts';
import { PostgresDatabase } from '../postgres/database.ts';
import { databaseOptions } from '../postgres/platform.ts';
import { nameOf } from './definition.ts';
import { findDatabase, openContainerPrograms } from './programs.ts';
import { ComposeService } from './service.ts';
import { TunnelledStore } from './tunnelled-store.ts';

/**
 * Returns a platform in containers, with idkit's service or Keycloak.
 *
 * @throws IDKIT_SETTING if the database's address names no service of compose.yaml
 */
export function openComposePlatform(
  settings: Settings,
  { databasePasswords: otherPasswords = [] }: OpenOptions,
): Platform {
  const service = new ComposeService(settings);
  const name = nameOf(settings, 'database');
  const find = async () => findDatabase(await service.findEngine(), name, settings.compose.project);
  const access = { programs: openContainerPrograms(name, find), otherPasswords };
  const database = new PostgresDatabase({
    ...databaseOptions(settings, access),
    // Postgres in the public image requests no password from programs in its container.
    asksNoPassword: true,
    store: settings.service === 'keycloak' ? new KeycloakStore() : new TunnelledStore(settings, find, access),
    isStopped: () => isStopped(find),
  });
  return new Platform(service, database);
}

async function isStopped(find: () => Promise<unknown>): Promise<boolean> {
  try {
    await find();
    return false;
  } catch (error) {
    if (error instanceof IdkitError && error.code === 'IDKIT_UNREACHABLE') return true;
    throw error;
  }
}
