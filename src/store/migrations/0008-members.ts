import type { Migration } from './index.ts';

/**
 * Adds the username to the links between users and their roles and groups, so that an index has the members of each
 * role and group in the order of usernames. Every change of a user writes the links again, with the current username.
 * On Postgres, replicas of the previous version write no username, so a trigger adds it.
 */
export const MEMBERS: Migration = {
  sqlite: `
ALTER TABLE user_role ADD COLUMN username TEXT;
CREATE INDEX user_role_username ON user_role (role_id, username) WHERE username IS NOT NULL;
ALTER TABLE user_group ADD COLUMN username TEXT;
CREATE INDEX user_group_username ON user_group (group_id, username) WHERE username IS NOT NULL;
`,
  postgres: `
ALTER TABLE user_role ADD COLUMN username TEXT COLLATE "C";
ALTER TABLE user_group ADD COLUMN username TEXT COLLATE "C";
CREATE FUNCTION name_member() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  NEW.username := (SELECT username FROM account WHERE id = NEW.user_id);
  RETURN NEW;
END
$$;
CREATE TRIGGER user_role_added BEFORE INSERT ON user_role FOR EACH ROW WHEN (NEW.username IS NULL) EXECUTE FUNCTION name_member();
CREATE TRIGGER user_group_added BEFORE INSERT ON user_group FOR EACH ROW WHEN (NEW.username IS NULL) EXECUTE FUNCTION name_member();
`,
};
