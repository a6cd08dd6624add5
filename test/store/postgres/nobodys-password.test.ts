import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMPILED_QUERIES } from '../../../src/store/queries/compiled/postgres.ts';
import { makeDatabase, openOn, runSql } from '../databases.ts';
import { missingPostgres, startPostgres } from '../postgres-server.ts';

const skip = missingPostgres() ?? false;
const USERS = 20_000;

test('uses indexes to read the password of an arbitrary user, whatever the number of users and the statistics', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  const { name, url } = await makeDatabase(server);
  await openOn(t, server, url);
  await runSql(
    server,
    `INSERT INTO realm (id, name, doc) VALUES ('large', 'large', '{}'), ('small', 'small', '{}');
    INSERT INTO account (id, realm_id, username, enabled, email_verified, doc)
      SELECT md5(i::text), 'large', 'user-' || i, 1, 1, '{}' FROM generate_series(1, ${USERS}) AS i;
    INSERT INTO account (id, realm_id, username, enabled, email_verified, doc) VALUES ('0', 'small', 'a', 1, 1, '{}');
    INSERT INTO credential (id, user_id, priority, doc) SELECT id, id, 1, '{}' FROM account`,
    name,
  );
  const { sql, bind } = COMPILED_QUERIES['credential.ofSome']!;
  for (const statistics of ['', 'ANALYZE;'])
    for (const plan of ['force_generic_plan', 'force_custom_plan'])
      for (const realm of ['large', 'small']) {
        const values = bind.map((one) => {
          if (!('slot' in one)) return String(one.value);
          return one.slot === 'place' ? `'8'` : `'${realm}'`;
        });
        const lines = await runSql(
          server,
          `${statistics} SET plan_cache_mode = ${plan}; PREPARE pick AS ${sql};
          EXPLAIN EXECUTE pick(${values.join(', ')})`,
          name,
        );
        const text = lines.map((line) => String(line['QUERY PLAN'])).join('\n');
        assert.doesNotMatch(text, /Seq Scan/, `${statistics} ${plan} ${realm}`);
        assert.match(text, /account_realm/);
      }
});
