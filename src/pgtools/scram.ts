import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import type { Random, Secret } from '../core/index.ts';

/** As Postgres makes them itself (`scram_iterations`). */
const ITERATIONS = 4096;
const SALT_BYTES = 16;

/**
 * What Postgres stores of a password, so that neither the statement that sets it nor the server's log holds the
 * password (RFC 5802 §3; PostgreSQL documentation, 53.8). SASLprep beyond NFKC is left out: libpq, too, takes a
 * password as it is where SASLprep does not apply.
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
