import type { Migration } from './index.ts';

/**
 * Adds the kept counts: the number of users, sessions, token families and logins, which triggers change in the
 * transaction that changes the rows, also if a foreign key removes them.
 *
 * `record_count` has a row for each kind and owner: the realm of users, the client of its sessions (its bytes in hex), or
 * an empty text for the whole database. It is correct once the table `count_check` has a row for the kind. Before, it lacks the rows that are older than the
 * triggers. Sessions that the background migration `session rows` has not moved yet are not part of it. The kind
 * `migration` is different: it has the number of records that each background migration had when it began.
 *
 * On Postgres, transactions must not wait for each other's counts. So they append rows to `count_change` and
 * `session_client_change`, and the store adds these to `record_count` later (queries/counts.ts). A session belongs to a
 * client while it has at least one token family of that client. `session_client_change` therefore names the session,
 * and the statement that adds up the changes counts its token families.
 */
export const COUNTS: Migration = {
  sqlite: `
CREATE TABLE record_count (
  kind TEXT NOT NULL,
  owner TEXT NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (kind, owner)
) WITHOUT ROWID;
CREATE TABLE count_check (
  kind TEXT PRIMARY KEY NOT NULL,
  generation INTEGER NOT NULL,
  checked_at INTEGER NOT NULL,
  drift INTEGER NOT NULL
) WITHOUT ROWID;
${rowTrigger('account', 'INSERT', 'NEW.service_account_client IS NULL', [count("'users'", 'NEW.realm_id', '1')])}
${rowTrigger('account', 'DELETE', 'OLD.service_account_client IS NULL', [count("'users'", 'OLD.realm_id', '-1')])}
${rowTrigger(
  'account',
  'UPDATE OF service_account_client',
  '(OLD.service_account_client IS NULL) <> (NEW.service_account_client IS NULL)',
  [count("'users'", 'NEW.realm_id', 'CASE WHEN NEW.service_account_client IS NULL THEN 1 ELSE -1 END')],
)}
${bothTriggers('user_session', (row, sign) => [
  count(`CASE ${row}.offline WHEN 0 THEN 'sessions' ELSE 'offlineSessions' END`, "''", sign),
])}
${bothTriggers('token_family', (row, sign) => [
  count("'families'", "''", sign),
  count(
    `CASE ${row}.offline WHEN 0 THEN 'clientSessions' ELSE 'clientOfflineSessions' END`,
    `lower(hex(${row}.client_uuid))`,
    sign,
    `NOT EXISTS (SELECT 1 FROM token_family AS other WHERE other.client_uuid = ${row}.client_uuid
      AND other.offline = ${row}.offline AND other.session_id = ${row}.session_id AND other.id <> ${row}.id)`,
  ),
])}
${bothTriggers('authentication_session', (_row, sign) => [count("'logins'", "''", sign)])}
${checkedIfEmpty('unixepoch()')}
`,
  postgres: `
CREATE TABLE record_count (
  kind TEXT COLLATE "C" NOT NULL,
  owner TEXT COLLATE "C" NOT NULL,
  amount BIGINT NOT NULL,
  PRIMARY KEY (kind, owner)
) WITH (fillfactor = 50);
CREATE TABLE count_check (
  kind TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  generation BIGINT NOT NULL,
  checked_at BIGINT NOT NULL,
  drift BIGINT NOT NULL
);
CREATE TABLE count_change (
  kind TEXT COLLATE "C" NOT NULL,
  owner TEXT COLLATE "C" NOT NULL,
  amount BIGINT NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE TABLE session_client_change (
  client_uuid BYTEA NOT NULL,
  session_id BYTEA NOT NULL,
  amount INTEGER NOT NULL,
  offline SMALLINT NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
${statementTriggers(
  'account',
  'count_users',
  `INSERT INTO count_change (kind, owner, amount)
    SELECT 'users', realm_id, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE - count(*) END
    FROM changed WHERE service_account_client IS NULL GROUP BY realm_id;`,
)}
CREATE FUNCTION count_service_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO count_change (kind, owner, amount)
    VALUES ('users', NEW.realm_id, CASE WHEN NEW.service_account_client IS NULL THEN 1 ELSE -1 END);
  RETURN NULL;
END
$$;
CREATE TRIGGER account_updated AFTER UPDATE OF service_account_client ON account FOR EACH ROW
  WHEN ((OLD.service_account_client IS NULL) <> (NEW.service_account_client IS NULL))
  EXECUTE FUNCTION count_service_accounts();
${statementTriggers(
  'user_session',
  'count_sessions',
  `INSERT INTO count_change (kind, owner, amount)
    SELECT CASE offline WHEN 0 THEN 'sessions' ELSE 'offlineSessions' END, '',
      CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE - count(*) END
    FROM changed GROUP BY offline;`,
)}
${statementTriggers(
  'token_family',
  'count_token_families',
  `INSERT INTO session_client_change (client_uuid, offline, session_id, amount)
    SELECT client_uuid, offline, session_id, CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END FROM changed;`,
)}
${statementTriggers(
  'authentication_session',
  'count_logins',
  `INSERT INTO count_change (kind, owner, amount)
    SELECT 'logins', '', CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE - count(*) END
    FROM changed HAVING count(*) > 0;`,
)}
${checkedIfEmpty('extract(epoch FROM now())::bigint')}
`,
};

/** Returns the statements of both SQLite triggers of a table: for added and for removed rows. */
function bothTriggers(table: string, statements: (row: string, sign: string) => readonly string[]): string {
  return `${rowTrigger(table, 'INSERT', undefined, statements('NEW', '1'))}
${rowTrigger(table, 'DELETE', undefined, statements('OLD', '-1'))}`;
}

function rowTrigger(
  table: string,
  event: string,
  condition: string | undefined,
  statements: readonly string[],
): string {
  const when = condition === undefined ? '' : ` WHEN ${condition}`;
  return `CREATE TRIGGER ${table}_${nameOf(event)} AFTER ${event} ON ${table}${when} BEGIN
  ${statements.join('\n  ')}
END;`;
}

/** Returns a statement that adds to one count in SQLite. */
function count(kind: string, owner: string, amount: string, condition = 'true'): string {
  return `INSERT INTO record_count (kind, owner, amount) SELECT ${kind}, ${owner}, ${amount} WHERE ${condition}
    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;`;
}

/** Returns a Postgres function, and the triggers that call it once for all rows that a statement adds or removes. */
function statementTriggers(table: string, name: string, statement: string): string {
  const trigger = (event: string, rows: string) =>
    `CREATE TRIGGER ${table}_${nameOf(event)} AFTER ${event} ON ${table} REFERENCING ${rows} TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION ${name}();`;
  return `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  ${statement}
  RETURN NULL;
END
$$;
${trigger('INSERT', 'NEW')}
${trigger('DELETE', 'OLD')}`;
}

function nameOf(event: string): string {
  if (event === 'INSERT') return 'added';
  return event === 'DELETE' ? 'removed' : 'updated';
}

/** Counts of tables that are empty now are correct from the beginning. */
function checkedIfEmpty(now: string): string {
  const tables = {
    users: 'account',
    sessions: 'user_session',
    families: 'user_session',
    logins: 'authentication_session',
  };
  return Object.entries(tables)
    .map(
      ([kind, table]) =>
        `INSERT INTO count_check (kind, generation, checked_at, drift)
  SELECT '${kind}', 0, ${now}, 0 WHERE NOT EXISTS (SELECT 1 FROM ${table});`,
    )
    .join('\n');
}
