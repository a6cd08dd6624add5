import type { ProcedureOptions, ProcedureResult } from '../run.ts';
import type { SmokeCheck } from '../smoke/options.ts';

export interface DoctorOptions extends ProcedureOptions {
  /** The environment variables of this process. Their secrets are removed from the bundle. */
  env: NodeJS.ProcessEnv;
  /** The file of the bundle, a gzip-compressed tar archive. */
  bundle?: string;
  /** Log files to add to the bundle. */
  logs?: readonly string[];
}

/** What a support engineer asks first. */
export interface MachineFacts {
  idkit: string;
  node: string;
  openssl: string;
  sqlite: string;
  /** For example `Debian GNU/Linux 12 (bookworm), Linux 6.1.0, x64`. */
  system: string;
  processors: number;
  memoryBytes: number;
  /** `UTC` or an IANA name. */
  timeZone: string;
  user: string;
}

export interface DoctorResult extends ProcedureResult {
  dir: string;
  machine: MachineFacts;
  /** Every effective setting with its source. Secrets are hidden. */
  settings: readonly { name: string; value: unknown; source: string }[];
  checks: readonly SmokeCheck[];
  passed: number;
  failed: number;
  notApplicable: number;
  /** Absolute path of the bundle. */
  bundle?: string;
}

/** The checks of `idkit doctor`, in order. A check id is also the name of its finding, in upper case with `_`. */
export const DOCTOR_CHECKS = {
  'file-modes': 'files with secrets belong to one user and cannot be read by others',
  'disk-speed': 'the disk writes small files fast enough',
  programs: 'the programs that the settings need are installed',
  clock: 'the clock is synchronized',
  'database-settings': 'the settings of the database keep the data safe',
  'database-clock': 'the clock of the database agrees with this machine',
  'database-schema': 'the schema of the database fits this idkit',
  ports: 'the ports to listen on are free, or the service uses them',
  service: 'the service responds',
  'service-clock': 'the clock of the service agrees with this machine',
  'base-url': 'the base URL is an https address, or on this machine',
  dns: 'the host of the base URL has an address',
  tls: 'the certificate of the base URL is trusted and current',
  issuer: 'the base URL leads to the service, and the issuer is the base URL',
  cookies: 'login cookies are protected',
  'proxy-headers': 'the service sees the address of the client, and clients cannot choose it',
} as const satisfies Record<string, string>;

export type DoctorCheckId = keyof typeof DOCTOR_CHECKS;
