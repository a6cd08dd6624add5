import { parsePostgresUrl } from '../config/index.ts';
import type { Random, Secret } from '../core/index.ts';
import type { PostgresPrograms } from './programs/programs.ts';
import { openPsql } from './psql.ts';
import { identifier, literal } from './quote.ts';
import { scramVerifier } from './scram.ts';

/** Who makes databases and roles at a server of a drill's own. */
export interface ScratchAdministrator {
  user: string;
  password: Secret;
}

/** The administrator's name at such a server. */
export const ADMINISTRATOR = 'idkit_administrator';

/**
 * Makes the role of `url`, which loads and serves what a set brings: it may log in, and neither make roles or
 * databases nor reach a file or program of the server.
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
