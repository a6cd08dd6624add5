import { FUNCTION_DEFINITIONS } from './own-functions.ts';
import { SYSTEM_SCHEMA } from './reader.ts';
import { type Token, tokenize } from './tokens.ts';

/**
 * Every definition with a function call that the migrations of idkit and Keycloak create, as pg_dump writes it. For a
 * migration that creates or changes such a definition, add a row here and keep the rows of older versions.
 */
const DEFINITIONS = [
  `CREATE TABLE public.configuration_change (
    seq bigint NOT NULL,
    transaction bigint DEFAULT ((pg_current_xact_id())::text)::bigint NOT NULL,
    "time" timestamp with time zone DEFAULT now() NOT NULL,
    origin text NOT NULL COLLATE pg_catalog."C",
    touched text NOT NULL COLLATE pg_catalog."C"
  )`,
  `CREATE UNIQUE INDEX realm_group_name ON public.realm_group USING btree (realm_id, COALESCE(parent_id, ''::text), name)`,
  `CREATE UNIQUE INDEX role_name ON public.role USING btree (realm_id, COALESCE(client_uuid, ''::text), name)`,
  // The indexes of events. `"left"` keeps a long value out of them.
  `CREATE INDEX event_client ON public.event USING btree (realm_id, "left"(client_id, 100), type, "time") WHERE (client_id IS NOT NULL)`,
  `CREATE INDEX event_ip ON public.event USING btree (realm_id, "left"(ip_address, 100), "time") WHERE (ip_address IS NOT NULL)`,
  `CREATE INDEX event_user ON public.event USING btree ("left"(user_id, 100), "time") WHERE (user_id IS NOT NULL)`,
  `CREATE INDEX admin_event_client ON public.admin_event USING btree (realm_id, "left"(auth_realm_id, 100), "left"(auth_client_id, 100), "time")`,
  `CREATE INDEX admin_event_ip ON public.admin_event USING btree (realm_id, "left"(auth_ip_address, 100), "time")`,
  `CREATE INDEX admin_event_path ON public.admin_event USING btree (realm_id, "left"(resource_path, 100), "time")`,
  `CREATE INDEX admin_event_user ON public.admin_event USING btree ("left"(auth_user_id, 100), "time")`,
  // The search index of users.
  String.raw`CREATE INDEX account_attributes ON public.account USING gin (jsonb_set('{}'::jsonb, ARRAY[realm_id], jsonb_extract_path((doc)::jsonb, VARIADIC ARRAY['attributes'::text])) jsonb_path_ops) WHERE ((service_account_client IS NULL) AND ((length(doc) < 10000) AND (strpos(doc, '\u'::text) = 0)))`,
  String.raw`CREATE INDEX account_trigrams ON public.account USING gin (string_to_array(((((regexp_replace((((((((((((((((chr(2) || chr(2)) || username) || chr(3)) || chr(2)) || chr(2)) || COALESCE(email, ''::text)) || chr(3)) || chr(2)) || chr(2)) || COALESCE(first_name, ''::text)) || chr(3)) || chr(2)) || chr(2)) || COALESCE(last_name, ''::text)) || chr(3)), '(...)'::text, (("right"(regexp_replace(realm_id, '[^0-9A-Za-z]'::text, ''::text, 'g'::text), 8) || '\1'::text) || chr(1)), 'g'::text) || chr(1)) || regexp_replace(((((((((((((((chr(2) || username) || chr(3)) || chr(2)) || chr(2)) || COALESCE(email, ''::text)) || chr(3)) || chr(2)) || chr(2)) || COALESCE(first_name, ''::text)) || chr(3)) || chr(2)) || chr(2)) || COALESCE(last_name, ''::text)) || chr(3)), '(...)'::text, (("right"(regexp_replace(realm_id, '[^0-9A-Za-z]'::text, ''::text, 'g'::text), 8) || '\1'::text) || chr(1)), 'g'::text)) || chr(1)) || regexp_replace((((((((((((((username || chr(3)) || chr(2)) || chr(2)) || COALESCE(email, ''::text)) || chr(3)) || chr(2)) || chr(2)) || COALESCE(first_name, ''::text)) || chr(3)) || chr(2)) || chr(2)) || COALESCE(last_name, ''::text)) || chr(3)), '(...)'::text, (("right"(regexp_replace(realm_id, '[^0-9A-Za-z]'::text, ''::text, 'g'::text), 8) || '\1'::text) || chr(1)), 'g'::text)), chr(1))) WHERE (service_account_client IS NULL)`,
  'CREATE INDEX account_unverified ON public.account USING btree (realm_id) WHERE ((email_verified = 0) AND (enabled = 1) AND (service_account_client IS NULL))',
  String.raw`CREATE INDEX account_unusual ON public.account USING btree (realm_id) WHERE ((service_account_client IS NULL) AND ((length(doc) >= 10000) OR (strpos(doc, '\u'::text) > 0)))`,
  // Keycloak 24 and newer.
  `CREATE INDEX idx_client_att_by_name_value ON public.client_attributes USING btree (name, substr(value, 1, 255))`,
];

const KNOWN: ReadonlySet<string> = new Set(
  [...DEFINITIONS, ...FUNCTION_DEFINITIONS].map((text) => keyOf(tokenize(text))),
);

/** True if the statement is one of these definitions, in any schema except those of the server. */
export function isOwnDefinition(tokens: readonly Token[]): boolean {
  const schema = tokens[schemaPlace(tokens)];
  return schema !== undefined && !SYSTEM_SCHEMA.test(schema.text) && KNOWN.has(keyOf(tokens));
}

/** Returns the index of the schema, which is the token before the first dot. */
function schemaPlace(tokens: readonly Token[]): number {
  return tokens.findIndex(({ text, kind }) => kind === 'sign' && text === '.') - 1;
}

/** Joins the tokens without the schema, which a trigger names twice. */
function keyOf(tokens: readonly Token[]): string {
  const schema = tokens[schemaPlace(tokens)]?.text;
  return (
    tokens
      .filter(({ text }, index) => text !== schema || tokens[index + 1]?.text !== '.')
      .map(({ kind, text }) => (kind === 'name' ? JSON.stringify(text) : text))
      .join(' ')
      // Depending on its version, pg_dump writes these two in either order.
      .replaceAll('NOT NULL COLLATE pg_catalog . "C"', 'COLLATE pg_catalog . "C" NOT NULL')
  );
}
