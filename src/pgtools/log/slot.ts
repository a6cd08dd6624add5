import { IdkitError } from '../../core/index.ts';
import { identifier, literal } from '../quote.ts';
import { type Lsn, parseLsn } from './lsn.ts';
import { ServerError } from './messages.ts';
import type { Replication } from './replication.ts';

/** A cluster, as its server describes it. */
export interface ClusterFacts {
  /** The number that `initdb` gave to the cluster. All its standbys have it, too. */
  systemIdentifier: string;
  timeline: number;
  major: number;
  /** The size of a WAL file in bytes. */
  walFileBytes: number;
  /** The limit in bytes of the WAL that a slot keeps. Undefined if there is no limit. */
  slotLimitBytes: number | undefined;
}

/** A replication slot, which makes the server keep the WAL that was not shipped yet. */
export interface SlotFacts {
  /** False if the server removed WAL that the slot should have kept. */
  usable: boolean;
  /** The bytes of WAL that the server keeps for the slot. */
  keptBytes: number;
  /** The position from which on the server keeps its WAL. Undefined if the slot was never used. */
  keptFrom: Lsn | undefined;
  /** The process that uses the slot now. */
  activePid: number | undefined;
}

/**
 * Reads the facts about a cluster, and checks that its WAL can be archived.
 *
 * @throws IDKIT_SETTING if the server writes too little WAL
 */
export async function readCluster(connection: Replication): Promise<ClusterFacts> {
  const [system] = await connection.query('IDENTIFY_SYSTEM');
  const [row] = await connection.query(
    `SELECT current_setting('wal_level'), pg_size_bytes(current_setting('wal_segment_size')),
      (SELECT setting FROM pg_settings WHERE name = 'max_slot_wal_keep_size'), pg_is_in_recovery()`,
  );
  const [level, fileBytes, limit, isStandby] = row ?? [];
  if (isStandby === 't')
    throw new IdkitError('IDKIT_UNREACHABLE', `the database server at ${connection.location} is a standby`, {
      hints: ['name every server of the cluster in the address: postgres://USER@HOST1,HOST2/NAME'],
    });
  if (level === 'minimal')
    throw new IdkitError(
      'IDKIT_SETTING',
      `the database server at ${connection.location} has wal_level minimal, which no archive can use`,
      { hints: ["run on the server: ALTER SYSTEM SET wal_level = 'replica', and restart the server"] },
    );
  return {
    systemIdentifier: String(system?.[0]),
    timeline: Number(system?.[1]),
    major: connection.major,
    walFileBytes: Number(fileBytes),
    // The setting is in MiB, and -1 means without a limit.
    slotLimitBytes: Number(limit) < 0 ? undefined : Number(limit) * 1024 * 1024,
  };
}

/** Returns the slot, or undefined if there is none of this name. */
export async function readSlot(connection: Replication, name: string): Promise<SlotFacts | undefined> {
  const [row] = await connection.query(
    `SELECT coalesce(wal_status, ''), coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0),
      restart_lsn, active_pid FROM pg_replication_slots WHERE slot_name = ${literal(name)}`,
  );
  if (row === undefined) return undefined;
  const [status, kept, from, pid] = row;
  return {
    usable: status !== 'lost',
    keptBytes: Number(kept),
    keptFrom: typeof from === 'string' ? parseLsn(from) : undefined,
    activePid: typeof pid === 'string' ? Number(pid) : undefined,
  };
}

/** Creates a slot that keeps all WAL from now on. A slot of the same name is replaced. */
export async function replaceSlot(connection: Replication, name: string): Promise<void> {
  await dropSlot(connection, name);
  await connection.query(`SELECT pg_create_physical_replication_slot(${literal(name)}, true)`);
}

/** Removes a slot. A missing slot is not an error. */
export async function dropSlot(connection: Replication, name: string): Promise<void> {
  const slot = await readSlot(connection, name);
  if (slot === undefined) return;
  // The process belongs to an idkit that lost its connection, because the caller holds the lock of the archive.
  if (slot.activePid !== undefined)
    await connection.query(`SELECT pg_terminate_backend(${slot.activePid}, 5000)`);
  await connection.query(`SELECT pg_drop_replication_slot(${literal(name)})`);
}

/** Maps the errors with which a server refuses an archive to what the operator can do. */
export function explainRefusal(error: unknown, user: string, location: string): unknown {
  const { code, message } = codeOf(error);
  if (code === '42501')
    return new IdkitError(
      'IDKIT_CREDENTIALS',
      `the role ${user} may not read the WAL of the database server at ${location}: ${message}`,
      {
        cause: error,
        hints: [
          "run as a superuser: CREATE ROLE idkit_archive LOGIN REPLICATION PASSWORD '…'; then set backup.archiveUser and IDKIT_ARCHIVE_PASSWORD",
          `or let the service read it: ALTER ROLE ${identifier(user)} REPLICATION;`,
        ],
      },
    );
  if (code === '53300')
    return new IdkitError(
      'IDKIT_SETTING',
      `the database server at ${location} accepts no more connections for replication: ${message}`,
      { cause: error, hints: ['raise max_wal_senders, and restart the server'] },
    );
  if (code === '53400')
    return new IdkitError(
      'IDKIT_SETTING',
      `the database server at ${location} has no free replication slot`,
      {
        cause: error,
        hints: [
          'raise max_replication_slots and restart the server, or drop a slot that pg_replication_slots shows',
        ],
      },
    );
  if (error instanceof ServerError)
    return new IdkitError('IDKIT_FAILED', `the database server at ${location} reports: ${message}`, {
      cause: error,
    });
  return error;
}

/** True if the server no longer has the WAL that was requested. */
export function isLogRemoved(error: unknown): boolean {
  const { code, message } = codeOf(error);
  return (
    code === '58P01' ||
    /requested WAL segment .* has already been removed|cannot read from .*replication slot|requested starting point/.test(
      message,
    )
  );
}

function codeOf(error: unknown): { code: string; message: string } {
  if (!(error instanceof Error)) return { code: '', message: String(error) };
  const { code } = error as Error & { code?: unknown };
  return { code: typeof code === 'string' ? code : '', message: error.message };
}
