/** Returns a realm file without the ids of its records, which another realm of the same service has already. */
export function withoutIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !['id', '_id', 'containerId'].includes(key))
      .map(([key, item]) => [key, withoutIds(item)]),
  );
}
