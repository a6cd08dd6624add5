/**
 * Where the service tells what happens: pino off a terminal, nothing on one. `fields` never hold a secret, a
 * body, a query string or an `Authorization` header.
 */
export interface ServiceLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
