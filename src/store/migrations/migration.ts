/**
 * Raises a database by one version, in one transaction. On Postgres, replicas of the version before still run while a
 * migration is applied.
 */
export interface Migration {
  sqlite: string;
  postgres: string;
}
