import type { StatementReader } from './reader.ts';

/**
 * Every function and trigger that the migrations of idkit create in Postgres, as pg_dump writes it. For a migration that
 * creates or changes one, add a row here and keep the rows of older versions. A dump with any other one is rejected.
 */
export const FUNCTION_DEFINITIONS: readonly string[] = [
  `CREATE FUNCTION public.count_logins() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO count_change (kind, owner, amount)
    SELECT 'logins', '', CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE - count(*) END
    FROM changed HAVING count(*) > 0;
  RETURN NULL;
END
$$`,
  `CREATE FUNCTION public.count_required_actions() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO count_change (kind, owner, amount)
      SELECT 'actions', owner, -1 FROM (
        SELECT to_json(OLD.realm_id)::text || coalesce(regexp_replace(OLD.doc, '\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\\\u0001', 'g')::json ->> 'requiredActions', '[]') AS owner
        WHERE OLD.enabled = 1 AND strpos(OLD.doc, '"requiredActions":["') > 0
      ) AS counted WHERE octet_length(owner) <= 1000;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO count_change (kind, owner, amount)
      SELECT 'actions', owner, 1 FROM (
        SELECT to_json(NEW.realm_id)::text || coalesce(regexp_replace(NEW.doc, '\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\\\u0001', 'g')::json ->> 'requiredActions', '[]') AS owner
        WHERE NEW.enabled = 1 AND strpos(NEW.doc, '"requiredActions":["') > 0
      ) AS counted WHERE octet_length(owner) <= 1000;
  END IF;
  RETURN NULL;
END
$$`,
  `CREATE FUNCTION public.count_service_accounts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO count_change (kind, owner, amount)
    VALUES ('users', NEW.realm_id, CASE WHEN NEW.service_account_client IS NULL THEN 1 ELSE -1 END);
  RETURN NULL;
END
$$`,
  `CREATE FUNCTION public.count_sessions() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO count_change (kind, owner, amount)
    SELECT CASE offline WHEN 0 THEN 'sessions' ELSE 'offlineSessions' END, '',
      CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE - count(*) END
    FROM changed GROUP BY offline;
  RETURN NULL;
END
$$`,
  `CREATE FUNCTION public.count_token_families() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO session_client_change (client_uuid, offline, session_id, amount)
    SELECT client_uuid, offline, session_id, CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END FROM changed;
  RETURN NULL;
END
$$`,
  `CREATE FUNCTION public.count_users() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO count_change (kind, owner, amount)
    SELECT 'users', realm_id, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE - count(*) END
    FROM changed WHERE service_account_client IS NULL GROUP BY realm_id;
  RETURN NULL;
END
$$`,
  `CREATE FUNCTION public.name_member() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  NEW.username := (SELECT username FROM account WHERE id = NEW.user_id);
  RETURN NEW;
END
$$`,
  `CREATE TRIGGER account_actions_added AFTER INSERT ON public.account FOR EACH ROW WHEN (((new.enabled = 1) AND (strpos(new.doc, '"requiredActions":["'::text) > 0))) EXECUTE FUNCTION public.count_required_actions()`,
  `CREATE TRIGGER account_actions_removed AFTER DELETE ON public.account FOR EACH ROW WHEN (((old.enabled = 1) AND (strpos(old.doc, '"requiredActions":["'::text) > 0))) EXECUTE FUNCTION public.count_required_actions()`,
  `CREATE TRIGGER account_actions_updated AFTER UPDATE OF enabled, doc ON public.account FOR EACH ROW WHEN ((((old.enabled = 1) AND (strpos(old.doc, '"requiredActions":["'::text) > 0)) OR ((new.enabled = 1) AND (strpos(new.doc, '"requiredActions":["'::text) > 0)))) EXECUTE FUNCTION public.count_required_actions()`,
  `CREATE TRIGGER account_added AFTER INSERT ON public.account REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_users()`,
  `CREATE TRIGGER account_removed AFTER DELETE ON public.account REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_users()`,
  `CREATE TRIGGER account_updated AFTER UPDATE OF service_account_client ON public.account FOR EACH ROW WHEN (((old.service_account_client IS NULL) <> (new.service_account_client IS NULL))) EXECUTE FUNCTION public.count_service_accounts()`,
  `CREATE TRIGGER authentication_session_added AFTER INSERT ON public.authentication_session REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_logins()`,
  `CREATE TRIGGER authentication_session_removed AFTER DELETE ON public.authentication_session REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_logins()`,
  `CREATE TRIGGER token_family_added AFTER INSERT ON public.token_family REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_token_families()`,
  `CREATE TRIGGER token_family_removed AFTER DELETE ON public.token_family REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_token_families()`,
  `CREATE TRIGGER user_group_added BEFORE INSERT ON public.user_group FOR EACH ROW WHEN ((new.username IS NULL)) EXECUTE FUNCTION public.name_member()`,
  `CREATE TRIGGER user_role_added BEFORE INSERT ON public.user_role FOR EACH ROW WHEN ((new.username IS NULL)) EXECUTE FUNCTION public.name_member()`,
  `CREATE TRIGGER user_session_added AFTER INSERT ON public.user_session REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_sessions()`,
  `CREATE TRIGGER user_session_removed AFTER DELETE ON public.user_session REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_sessions()`,
];

const OWN_FUNCTIONS: ReadonlySet<string> = new Set(
  FUNCTION_DEFINITIONS.flatMap((text) => /^CREATE FUNCTION public\.(\w+)\(\)/.exec(text)?.[1] ?? []),
);

/** Accepts the name of one of these functions. A dump may contain its owner and the rights on it. */
export function ownFunction(read: StatementReader): void {
  if (!OWN_FUNCTIONS.has(read.relation().name)) read.refuse();
  read.must('( )');
}
