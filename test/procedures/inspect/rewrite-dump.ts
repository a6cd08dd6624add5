import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

/** Replaces the SQL of a set, and its checksum. */
export async function rewriteDump(dir: string, change: (sql: string) => string): Promise<void> {
  const file = join(dir, 'keycloak-db.sql.gz');
  const sql = change(gunzipSync(await readFile(file)).toString());
  const bytes = gzipSync(sql);
  await writeFile(file, bytes);
  const list = join(dir, 'checksums.sha256');
  const sum = createHash('sha256').update(bytes).digest('hex');
  await writeFile(
    list,
    (await readFile(list, 'utf8')).replace(/^.*keycloak-db\.sql\.gz$/m, `${sum}  keycloak-db.sql.gz`),
  );
}
