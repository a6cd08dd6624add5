import type { Readable, Writable } from 'node:stream';
import type { PostgresAddress } from '../../config/index.ts';
import type { IdkitError, Secret } from '../../core/index.ts';

/** The two client programs that all work on a Postgres database uses. */
export type ProgramName = 'psql' | 'pg_dump';

/** Where a program connects to, and as which role. The database's name is an argument of the program. */
export interface ProgramTarget {
  address: PostgresAddress;
  /** Takes precedence over the address's own password and the password file. */
  password: Secret | undefined;
  /** The name that the server shows in `pg_stat_activity`. */
  applicationName: string;
}

/**
 * Runs `psql` and `pg_dump` on this machine, or inside the database's container over the server's own socket. Either
 * way, the server gets the password only through a method in the address's `require_auth`.
 */
export interface PostgresPrograms {
  /**
   * Finds the program that fits a server of major version `server` best; any version if `server` is unknown.
   *
   * @throws IDKIT_VERSION (14) that names the Debian package if it is missing or `pg_dump` is older than the server;
   *   IDKIT_UNREACHABLE if the container does not run
   */
  find(program: ProgramName, server?: number): Promise<FoundProgram>;
  /**
   * Returns the free bytes on the disk of a server's directory (`data_directory`, a tablespace), or undefined if
   * unknown. `startedAt` is the server's start as Unix time in seconds, which its `postmaster.pid` records. It matters
   * because another server of this machine may use a directory of the same name.
   */
  freeBytes(directory: string, options: { startedAt: number }): Promise<number | undefined>;
}

/** A program that was found. */
export interface FoundProgram {
  /** In the form of `server_version_num`: 150018 for 15.18, 170006 for 17.6. */
  version: number;
  /** Starts the program without a shell. Of the address, only the database's name is in an argument. */
  start(args: readonly string[], target: ProgramTarget): Promise<RunningProgram>;
}

/** A running program. It never rejects or emits `error`: `ended` alone reports the outcome. */
export interface RunningProgram {
  /** A write after the program's end is lost; `ended` reports it. */
  stdin: Writable;
  stdout: Readable;
  /** Resolves once the program has ended and its streams are closed; never rejects. */
  ended: Promise<ProgramEnd>;
  /**
   * Kills the program (SIGKILL). Inside a container this may kill only the client of the engine. The caller must then
   * end the remaining sessions at the server by their application name.
   */
  kill(): void;
}

/** How a program ended. */
export interface ProgramEnd {
  /** Undefined if a signal ended it or it could not start. */
  code: number | undefined;
  /** The signal's name, or why it could not start. */
  fault?: string;
  /** The last 64 KiB of its standard error. */
  stderr: string;
  /** Why it reached no server, or why the server got no password. */
  unreached?: IdkitError;
}

/** Seconds that connecting to one host may take if the address has no `connect_timeout`. */
export const CONNECT_SECONDS = 10;

/** Returns the seconds that connecting may take over all hosts of an address. */
export function connectSeconds({ hosts, connectTimeout }: PostgresAddress): number {
  return hosts.length * (connectTimeout ?? CONNECT_SECONDS);
}
