import assert from 'node:assert/strict';
import { createDumpInspector, type DumpReport } from '../../../src/backupset/index.ts';
import { IdkitError } from '../../../src/core/index.ts';

/** A short dump. */
export const SMALL = [
  '--',
  '-- PostgreSQL database dump',
  '--',
  '',
  '\\restrict abcDEF123',
  '',
  "SET client_encoding = 'UTF8';",
  'SET standard_conforming_strings = on;',
  "SELECT pg_catalog.set_config('search_path', '', false);",
  'CREATE TABLE public.realm (',
  '    id character varying(36) NOT NULL,',
  '    name text',
  ');',
  "COMMENT ON TABLE public.realm IS 'it''s; \\! no command -- and no comment /* $$';",
  'COPY public.realm (id, name) FROM stdin;',
  'r1\tmaster',
  'r2\ttab\\tand \\\\ back',
  '\\.',
  '',
  'COPY public.empty (a) FROM stdin;',
  '\\.',
  '',
  'COPY public.user_entity (id, realm_id, service_account_client_link) FROM stdin;',
  'u1\tr1\t\\N',
  'u2\tr1\tc1',
  'u3\tr2\t\\N',
  '\\.',
  '',
  '--',
  '-- PostgreSQL database dump complete',
  '--',
  '',
  '\\unrestrict abcDEF123',
  '',
].join('\n');
/** The line at which `withStatement` inserts a statement. */
export const LINE = SMALL.slice(0, SMALL.indexOf('COPY public.empty')).split('\n').length;

/** Reads a dump in chunks of a given number of bytes. */
export function inspect(text: string | Buffer, chunk = 1 << 16): DumpReport {
  const bytes = Buffer.from(text as Buffer);
  const inspector = createDumpInspector();
  for (let at = 0; at < bytes.length; at += chunk) inspector.write(bytes.subarray(at, at + chunk));
  return inspector.end();
}

export function damaged(text: string | Buffer, what: string, message = /./): void {
  assert.throws(
    () => inspect(text),
    (error) => error instanceof IdkitError && error.code === 'IDKIT_DAMAGED' && message.test(error.message),
    what,
  );
}

/** Returns the short dump with an additional statement. */
export function withStatement(statement: string): string {
  return SMALL.replace('COPY public.empty', () => `${statement}\nCOPY public.empty`);
}

/** Asserts that each statement is rejected with the line on which it begins. */
export function refused(statements: readonly string[]): void {
  for (const statement of statements)
    damaged(withStatement(statement), statement, new RegExp(`^keycloak-db.sql.gz: line ${LINE}: `));
}
