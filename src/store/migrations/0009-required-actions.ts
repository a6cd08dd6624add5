import type { Migration } from './index.ts';

/**
 * Maximum length in bytes of the owner of a kept count. Postgres cannot index a text of 2.7 kB, and then no change of any
 * count could be added up. Required actions that are longer are not counted.
 */
export const LONGEST_OWNER = 1_000;

/**
 * Adds a kept count (see 0006-counts.ts) of the enabled users of each realm with the same required actions, and an index
 * of those whose e-mail address is not verified.
 */
export const REQUIRED_ACTIONS: Migration = {
  sqlite: `
CREATE INDEX account_unverified ON account (realm_id)
  WHERE email_verified = 0 AND enabled = 1 AND service_account_client IS NULL;
CREATE TRIGGER account_actions_added AFTER INSERT ON account WHEN ${has('NEW')} BEGIN
  ${count('NEW', '1')}
END;
CREATE TRIGGER account_actions_removed AFTER DELETE ON account WHEN ${has('OLD')} BEGIN
  ${count('OLD', '-1')}
END;
CREATE TRIGGER account_actions_updated AFTER UPDATE OF enabled, doc ON account WHEN (${has('OLD')}) OR (${has('NEW')}) BEGIN
  ${count('OLD', '-1')}
  ${count('NEW', '1')}
END;
INSERT INTO count_check (kind, generation, checked_at, drift)
  SELECT 'actions', 0, unixepoch(), 0 WHERE NOT EXISTS (SELECT 1 FROM account);
`,
  // The server's JSON parser rejects the escape sequences of NUL and of halves of surrogate pairs, so another one
  // replaces them.
  postgres: `
CREATE INDEX account_unverified ON account (realm_id)
  WHERE email_verified = 0 AND enabled = 1 AND service_account_client IS NULL;
CREATE FUNCTION count_required_actions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO count_change (kind, owner, amount)
      SELECT 'actions', owner, -1 FROM (
        SELECT to_json(OLD.realm_id)::text || coalesce(regexp_replace(OLD.doc, '\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\\\u0001', 'g')::json ->> 'requiredActions', '[]') AS owner
        WHERE ${holds('OLD')}
      ) AS counted WHERE octet_length(owner) <= ${LONGEST_OWNER};
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO count_change (kind, owner, amount)
      SELECT 'actions', owner, 1 FROM (
        SELECT to_json(NEW.realm_id)::text || coalesce(regexp_replace(NEW.doc, '\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\\\u0001', 'g')::json ->> 'requiredActions', '[]') AS owner
        WHERE ${holds('NEW')}
      ) AS counted WHERE octet_length(owner) <= ${LONGEST_OWNER};
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER account_actions_added AFTER INSERT ON account FOR EACH ROW
  WHEN (${holds('NEW')}) EXECUTE FUNCTION count_required_actions();
CREATE TRIGGER account_actions_removed AFTER DELETE ON account FOR EACH ROW
  WHEN (${holds('OLD')}) EXECUTE FUNCTION count_required_actions();
CREATE TRIGGER account_actions_updated AFTER UPDATE OF enabled, doc ON account FOR EACH ROW
  WHEN ((${holds('OLD')}) OR (${holds('NEW')})) EXECUTE FUNCTION count_required_actions();
INSERT INTO count_check (kind, generation, checked_at, drift)
  SELECT 'actions', 0, extract(epoch FROM now())::bigint, 0 WHERE NOT EXISTS (SELECT 1 FROM account);
`,
};

/**
 * Returns the condition, for SQLite, for a user who has a required action. Most users have none, and a search of the text is faster
 * than reading their JSON. It also finds a few users without one, whose count nobody reads.
 */
function has(row: string): string {
  return `${row}.enabled = 1 AND ${row}.doc LIKE '%"requiredActions":["%'`;
}

/** Returns the same condition for Postgres, in the form in which every version of pg_dump writes it. */
function holds(row: string): string {
  return `${row}.enabled = 1 AND strpos(${row}.doc, '"requiredActions":["') > 0`;
}

/** Returns a SQLite statement that adds to the count of a user's required actions. */
function count(row: string, amount: string): string {
  return `INSERT INTO record_count (kind, owner, amount)
    SELECT 'actions', owner, ${amount} FROM (
      SELECT json_quote(${row}.realm_id) || coalesce(json_extract(${row}.doc, '$.requiredActions'), '[]') AS owner
      WHERE ${has(row)}
    ) WHERE octet_length(owner) <= ${LONGEST_OWNER}
    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;`;
}
