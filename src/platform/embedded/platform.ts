import type { Settings } from '../../config/index.ts';
import { Platform } from '../platform.ts';
import { SqliteDatabase } from './database.ts';
import { EmbeddedService } from './service.ts';

/** Returns the platform of idkit's own service on a SQLite file. */
export function openEmbeddedPlatform(settings: Settings): Platform {
  return new Platform(new EmbeddedService(settings), new SqliteDatabase(settings));
}
