import type { Readable, Writable } from 'node:stream';
import type { PostgresAddress } from '../../config/index.ts';
import type { IdkitError, Secret } from '../../core/index.ts';

/** The two Postgres client programs that idkit uses. */
export type ProgramName = 'psql' | 'pg_dump';

/**
 * The server that a program connects to, and its role there. The name of the database is not included: it is an
 * argument of the program.
 */
export interface ProgramTarget {
  address: PostgresAddress;
  /** The password. It takes precedence over those in the address and in the password file. */
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
   * Returns the installed version that best fits a server with major version `server`, or any version if `server` is
   * undefined.
   *
   * @throws IDKIT_VERSION with the name of the Debian package if the program is missing, or if `pg_dump` is older
   *   than the server; IDKIT_UNREACHABLE if the database's container is not running
   */
  find(program: ProgramName, server?: number): Promise<FoundProgram>;
  /**
   * Returns the free bytes on the disk of a server's directory (`data_directory`, a tablespace), or undefined if
   * unknown. `startedAt` is the Unix time in seconds of the server's start. It is compared with `postmaster.pid`,
   * because another server on this machine may use a directory of the same name.
   */
  freeBytes(directory: string, options: { startedAt: number }): Promise<number | undefined>;
}

export interface FoundProgram {
  /** In the form of `server_version_num`: 150018 for 15.18, 170006 for 17.6. */
  version: number;
  /** Starts the program without a shell. Its arguments contain no part of the address except the database's name. */
  start(args: readonly string[], target: ProgramTarget): Promise<RunningProgram>;
}

/** A running program. Its streams emit no `error`, and `ended` never rejects but resolves with the outcome. */
export interface RunningProgram {
  /** A write after the program has ended is lost without an error; see `ended`. */
  stdin: Writable;
  stdout: Readable;
  /** Resolves when the program has ended and its streams are closed. */
  ended: Promise<ProgramEnd>;
  /**
   * Kills the program (SIGKILL). For a program inside a container, this may kill only the engine's client. The caller
   * must then end the remaining sessions on the server by their application name.
   */
  kill(): void;
}

export interface ProgramEnd {
  /** The exit code. Undefined if a signal ended the program or it could not start. */
  code: number | undefined;
  /** The signal's name, or why it could not start. */
  fault?: string;
  /** The last 64 KiB of its standard error. */
  stderr: string;
  /** Set if the program reached no server, or if idkit did not send the password. */
  unreached?: IdkitError;
}

/** Timeout in seconds for connecting to one host if the address has no `connect_timeout`. */
export const CONNECT_SECONDS = 10;

/** Returns the timeout in seconds for trying all hosts of an address, one after the other. */
export function connectSeconds({ hosts, connectTimeout }: PostgresAddress): number {
  return hosts.length * (connectTimeout ?? CONNECT_SECONDS);
}
