/** A JSON object whose shape is known by its table in fields.ts, or not at all. */
export type Json = { readonly [name: string]: unknown };

/** The objects of a list that a table has checked. */
export function objects(value: unknown): readonly Json[] {
  return (value ?? []) as readonly Json[];
}

/** The strings of a list that a table has checked. */
export function strings(value: unknown): readonly string[] {
  return (value ?? []) as readonly string[];
}

/** The string of a field that a table has checked, or undefined. */
export function text(value: unknown): string | undefined {
  return value as string | undefined;
}

/** `given` without the fields that are undefined. */
export function defined<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}
