import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FUNCTION_DEFINITIONS } from '../../../src/backupset/dump/postgres/statements/own-functions.ts';
import { MIGRATIONS } from '../../../src/store/migrations/index.ts';
import { damaged, inspect, refused, withStatement } from './postgres-sample.ts';

const definition = (beginning: string): string => {
  const found = FUNCTION_DEFINITIONS.find((text) => text.startsWith(beginning));
  assert.ok(found, beginning);
  return found;
};
const FUNCTION = definition('CREATE FUNCTION public.count_users()');
const TRIGGER = definition('CREATE TRIGGER account_removed');
const ROW_TRIGGER = definition('CREATE TRIGGER account_updated');

test('accepts the functions and triggers that idkit creates, in any schema, with owners and rights', () => {
  const statements = FUNCTION_DEFINITIONS.flatMap((text) => [
    `${text};`,
    `${text.replaceAll('public.', 'service.')};`,
  ]);
  const rights = [
    'ALTER FUNCTION public.count_users() OWNER TO keycloak;',
    'REVOKE ALL ON FUNCTION public.count_users() FROM PUBLIC;',
    'GRANT ALL ON FUNCTION service.count_users() TO keycloak;',
  ];
  for (const statement of [...statements, ...rights])
    for (const chunk of [1, 7, 1 << 16])
      assert.equal(inspect(withStatement(statement), chunk).kind, 'postgres', statement);
});

test('knows the body of every function that the migrations create', () => {
  const known = FUNCTION_DEFINITIONS.map((text) =>
    /^CREATE FUNCTION public\.(\w+)[^$]*(\$\$[\s\S]*\$\$)$/.exec(text),
  );
  const bodies = new Set(known.map((found) => `${found?.[1]} ${found?.[2]}`));
  const created = MIGRATIONS.flatMap(({ postgres }) => [
    ...postgres.matchAll(/CREATE FUNCTION (\w+)[^$]*(\$\$[\s\S]*?\$\$)/g),
  ]);
  assert.ok(created.length >= 7);
  for (const [, name, body] of created) assert.ok(bodies.has(`${name} ${body}`), `${name}`);
});

test('rejects a function or trigger that differs from those of idkit in anything', () => {
  refused([
    `${FUNCTION.replace('count_change', 'other')};`,
    `${FUNCTION.replace('RETURN NULL', 'PERFORM public.evil(); RETURN NULL')};`,
    `${FUNCTION.replace('RETURN NULL', 'RETURN  NULL')};`,
    `${FUNCTION.replace('count_users', 'count_others')};`,
    `${FUNCTION.replace('plpgsql', 'plpython3u')};`,
    `${FUNCTION.replace('    AS', '    SECURITY DEFINER\n    AS')};`,
    `${FUNCTION.replace('    AS', "    SET search_path TO 'evil'\n    AS")};`,
    `${FUNCTION.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION')};`,
    `${FUNCTION.replaceAll('public.', 'pg_catalog.')};`,
    `${TRIGGER.replace('AFTER', 'BEFORE')};`,
    `${TRIGGER.replace('DELETE', 'INSERT')};`,
    `${TRIGGER.replace('public.account', 'public.realm')};`,
    `${TRIGGER.replace('public.count_users', 'public.count_logins')};`,
    `${TRIGGER.replace('public.count_users', 'evil.count_users')};`,
    `${TRIGGER.replace('count_users()', "count_users('x')")};`,
    `${TRIGGER.replace('STATEMENT', 'ROW')};`,
    `${ROW_TRIGGER.replace('<>', '=')};`,
    `${ROW_TRIGGER.replaceAll('public.', 'old.')};`,
    'ALTER FUNCTION public.count_users() OWNER TO CURRENT_USER SECURITY DEFINER;',
    'ALTER FUNCTION public.evil() OWNER TO keycloak;',
    'ALTER FUNCTION public.count_users(text) OWNER TO keycloak;',
    'GRANT ALL ON FUNCTION public.evil() TO PUBLIC;',
    'GRANT ALL ON FUNCTION pg_catalog.count_users() TO PUBLIC;',
    'INSERT INTO public.realm VALUES ($$x$$);',
    'CREATE TABLE public.t (a text DEFAULT $$x$$);',
    'COMMENT ON TABLE public.realm IS $$x$$;',
  ]);
  const inside = {
    'a quote with a tag': `${FUNCTION.replaceAll('$$', () => '$body$')};`,
    'a body that does not end': `${FUNCTION.slice(0, -2)};`,
    'a psql command after the body': `${FUNCTION} \\! id;`,
    'a second statement': `${FUNCTION}; SELECT 1;`,
  };
  for (const [what, statement] of Object.entries(inside)) damaged(withStatement(statement), what);
});
