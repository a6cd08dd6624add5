import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import type { Random, Secret } from '../core/index.ts';
import type { PostgresContext } from './context.ts';
import { queryBeside } from './databases.ts';
import { literal } from './quote.ts';

/** The default of Postgres (`scram_iterations`). */
const ITERATIONS = 4096;
const SALT_BYTES = 16;

/**
 * Returns the SCRAM verifier that Postgres stores for a password. A statement that contains the verifier keeps the
 * password itself out of the server's log (RFC 5802 §3; PostgreSQL documentation, 53.8). Of SASLprep, only the NFKC
 * step is applied. Like libpq, this function uses a password unchanged if SASLprep rejects it.
 */
export function scramVerifier(password: Secret, random: Random): string {
  const salt = random.bytes(SALT_BYTES);
  const text = password.reveal().normalize('NFKC');
  const salted = pbkdf2Sync(text, salt, ITERATIONS, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

/** Changes the role's password outside a swap. */
export async function setPassword(context: PostgresContext, password: Secret | undefined): Promise<void> {
  const [statement] = passwordStatements(context, password);
  if (statement !== undefined) await queryBeside(context, statement);
}

/**
 * Returns the statement that sets the role's password, or an empty list if `password` is undefined. The statement
 * contains a SCRAM verifier instead of the password.
 */
export function passwordStatements(
  { random }: PostgresContext,
  password: Secret | undefined,
): readonly string[] {
  return password === undefined
    ? []
    : [`ALTER ROLE CURRENT_USER PASSWORD ${literal(scramVerifier(password, random))};`];
}
