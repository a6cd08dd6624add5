/** Freezes plain objects, arrays and the values of maps all the way down. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of value instanceof Map ? value.values() : Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
