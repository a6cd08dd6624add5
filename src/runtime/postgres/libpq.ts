import type { PostgresAddress } from '../../config/index.ts';

/** Seconds that connecting to one host may take, where the address has no `connect_timeout`. */
export const CONNECT_SECONDS = 10;

/** Seconds that connecting may take over all hosts of an address. */
export function connectSeconds({ hosts, connectTimeout }: PostgresAddress): number {
  return hosts.length * (connectTimeout ?? CONNECT_SECONDS);
}
