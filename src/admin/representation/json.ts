/** A JSON object. After `checkRepresentation`, its fields have the types in field-types.ts. */
export type Json = { readonly [name: string]: unknown };

/** Returns a checked list of objects, empty if it is missing. */
export function objects(value: unknown): readonly Json[] {
  return (value ?? []) as readonly Json[];
}

/** Returns a checked list of strings, empty if it is missing. */
export function strings(value: unknown): readonly string[] {
  return (value ?? []) as readonly string[];
}

/** Returns a checked string, or undefined if it is missing. */
export function text(value: unknown): string | undefined {
  return value as string | undefined;
}

/** Returns a copy without the fields that are undefined. */
export function defined<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}
