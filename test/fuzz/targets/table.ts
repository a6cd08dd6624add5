import type { FuzzTarget } from '../target.ts';
import { archiveTarget } from './archive.ts';
import { checksumsTarget, cronTarget, envTarget, manifestTarget, yamlTarget } from './documents.ts';
import { gzipTarget } from './gzip.ts';
import { archiveFileTarget, archiveListingTarget } from './log-archive.ts';
import { openpgpTarget, sealTarget } from './openpgp.ts';
import { postgresTarget, sqliteTarget } from './sql.ts';

/** Every target. To add one, add a file to this directory and a row here. */
export const TARGETS: readonly FuzzTarget[] = [
  archiveTarget,
  gzipTarget,
  sqliteTarget,
  postgresTarget,
  openpgpTarget,
  sealTarget,
  checksumsTarget,
  manifestTarget,
  envTarget,
  yamlTarget,
  cronTarget,
  archiveFileTarget,
  archiveListingTarget,
];
