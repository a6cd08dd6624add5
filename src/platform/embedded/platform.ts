import type { Settings } from '../../config/index.ts';
import type { OpenOptions } from '../open.ts';
import { Platform } from '../platform.ts';
import { SqliteDatabase } from './database.ts';
import { EmbeddedService } from './service.ts';

/** Returns the platform of idkit's own service on a SQLite file. */
export function openEmbeddedPlatform(settings: Settings, { archiveOf }: OpenOptions = {}): Platform {
  return new Platform(new EmbeddedService(settings), new SqliteDatabase(settings, archiveOf));
}
