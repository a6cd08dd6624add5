import type { Readable, Writable } from 'node:stream';
import type { PostgresAddress } from '../../config/index.ts';
import type { IdkitError, Secret } from '../../core/index.ts';

/** The two client programs that all work on a Postgres database goes through. */
export type ProgramName = 'psql' | 'pg_dump';

/** Where a program connects to, and as what. The database's name is an argument of the program. */
export interface ProgramTarget {
  address: PostgresAddress;
  /** Goes before the address's own and the password file. */
  password: Secret | undefined;
  /** What the server's administrator sees. */
  applicationName: string;
}

/**
 * How `psql` and `pg_dump` are run: from this machine, or inside the database's container, where they reach it by its
 * own socket. However it is done, no server gets the password but by a method of the address's `require_auth`.
 */
export interface PostgresPrograms {
  /**
   * The program that fits a server of major version `server` best; any version where that is not known yet.
   *
   * @throws IDKIT_VERSION (14) that names the Debian package where it is missing, or `pg_dump` is older than the server;
   *   IDKIT_UNREACHABLE where the container does not run
   */
  find(program: ProgramName, server?: number): Promise<FoundProgram>;
  /**
   * Bytes free on the disk of a directory of the server (`data_directory`, a tablespace); undefined where that cannot
   * be known from here. `startedAt` is the server's start in seconds of its epoch time, as its `postmaster.pid` tells
   * it: another server of this machine may use a directory of the same name.
   */
  freeBytes(directory: string, options: { startedAt: number }): Promise<number | undefined>;
}

/** A program that is there. */
export interface FoundProgram {
  /** As `server_version_num` counts: 150018 for 15.18, 170006 for 17.6. */
  version: number;
  /** Starts it. Never through a shell; nothing of the address but the database's name in an argument. */
  start(args: readonly string[], target: ProgramTarget): Promise<RunningProgram>;
}

/** A program at work. Nothing of it rejects or emits `error`: how it went is told by `ended` alone. */
export interface RunningProgram {
  /** A write after the program's end is lost, and told by `ended`. */
  stdin: Writable;
  stdout: Readable;
  /** Resolves once it has ended and its streams are closed; never rejects. */
  ended: Promise<ProgramEnd>;
  /**
   * Ends it at once (SIGKILL). Inside a container this may end only the client of the engine; the caller ends what
   * it left at the server by its application name.
   */
  kill(): void;
}

/** How a program ended. */
export interface ProgramEnd {
  /** Undefined where a signal ended it, or it could not be started. */
  code: number | undefined;
  /** The signal's name, or why it could not be started. */
  fault?: string;
  /** The last 64 KiB of what it wrote to standard error. */
  stderr: string;
  /** Why it reached no server, or the server got no password. */
  unreached?: IdkitError;
}

/** Seconds that connecting to one host may take, where the address has no `connect_timeout`. */
export const CONNECT_SECONDS = 10;

/** Seconds that connecting may take over all hosts of an address. */
export function connectSeconds({ hosts, connectTimeout }: PostgresAddress): number {
  return hosts.length * (connectTimeout ?? CONNECT_SECONDS);
}
