/** Advisory locks of this program: class (`idkt`) and object, as `pg_advisory_lock` takes them. */
export const ADVISORY = {
  migrations: [0x69646b74, 1],
  service: [0x69646b74, 2],
  sweep: [0x69646b74, 3],
} as const;

/**
 * The lock of a database that a service writes to. Each connection of each service holds it shared, so that whoever
 * has it exclusively is alone, and nobody comes in meanwhile.
 */
export const SERVICE_LOCK: readonly [number, number] = ADVISORY.service;

/**
 * The first line of a database's comment while a restore has put it in place and does not hold its lock yet: no service
 * comes in meanwhile.
 */
export const CLOSED_COMMENT = 'idkit closed';
