import type { Settings } from '../../config/index.ts';
import type { PostgresPrograms } from '../../pgtools/index.ts';
import type { ServiceHalf } from '../contract.ts';
import { checkOwner } from './check-owner.ts';
import { nameOf } from './definition.ts';
import type { Engine } from './engine.ts';
import { findOwnEngine } from './engine.ts';
import { findDatabase, openContainerPrograms } from './programs.ts';
import { openComposeService } from './service.ts';

/** A platform in containers: its service and parts, and how to reach its database. */
export interface ComposePlatform {
  service: ServiceHalf;
  programs: PostgresPrograms;
  /** The running container of the database. @throws IDKIT_UNREACHABLE */
  findDatabase(): Promise<{ engine: Engine; id: string }>;
}

/**
 * Opens a platform in containers. The engine is asked for at the first need.
 *
 * @throws IDKIT_SETTING where the database's address names no service of compose.yaml; its parts throw it where the
 *   project's containers are another platform's
 */
export function openCompose(settings: Settings): ComposePlatform {
  let engine: Promise<Engine> | undefined;
  const engineOf = () => {
    engine ??= findOwn();
    return engine;
  };
  const findOwn = async () => {
    const found = await findOwnEngine(settings);
    await checkOwner(found, settings);
    return found;
  };
  const name = nameOf(settings, 'database');
  const { project } = settings.compose;
  const find = async () => findDatabase(await engineOf(), name, project);
  return {
    service: openComposeService(settings, engineOf),
    programs: openContainerPrograms(name, find),
    findDatabase: find,
  };
}
