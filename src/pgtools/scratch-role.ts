import { parsePostgresUrl } from '../config/index.ts';
import type { Random, Secret } from '../core/index.ts';
import { scramVerifier } from './password.ts';
import type { PostgresPrograms } from './programs/programs.ts';
import { openPsql } from './psql.ts';
import { identifier, literal } from './quote.ts';

/** The role that creates databases and roles on the temporary server of a drill. */
export interface ScratchAdministrator {
  user: string;
  password: Secret;
}

export const ADMINISTRATOR = 'idkit_administrator';

/**
 * Creates the role of `url`, which loads and serves a set. The role can log in, but it cannot create roles or
 * databases, and it has no access to the server's files or programs.
 */
export async function makeScratchRole(
  { url, password, administrator }: { url: string; password: Secret; administrator: ScratchAdministrator },
  programs: PostgresPrograms,
  random: Random,
): Promise<void> {
  const address = parsePostgresUrl(url);
  const psql = openPsql({
    address: { ...address, user: administrator.user },
    passwords: [administrator.password],
    programs,
    random,
  });
  const rights = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';
  await psql.query(
    'postgres',
    `CREATE ROLE ${identifier(address.user)} ${rights} PASSWORD ${literal(scramVerifier(password, random))};`,
  );
}
