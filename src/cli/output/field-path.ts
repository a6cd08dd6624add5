/**
 * Returns the value at a dotted path, or undefined. Keys may contain dots: `attributes.post.logout.redirect.uris` finds
 * the key `post.logout.redirect.uris` in `attributes`.
 */
export function valueAt(record: unknown, path: string): unknown {
  if (typeof record !== 'object' || record === null) return undefined;
  const fields = record as Record<string, unknown>;
  if (Object.hasOwn(fields, path)) return fields[path];
  for (let end = path.lastIndexOf('.'); end > 0; end = path.lastIndexOf('.', end - 1)) {
    const key = path.slice(0, end);
    if (!Object.hasOwn(fields, key)) continue;
    const found = valueAt(fields[key], path.slice(end + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns an object that has only these fields, under their paths. A field that the record lacks is null. */
export function pickFields(record: unknown, paths: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(paths.map((path) => [path, valueAt(record, path) ?? null]));
}
