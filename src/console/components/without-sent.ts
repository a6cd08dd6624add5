/** Returns the changes without those that were sent. A field that was changed again meanwhile keeps its new value. */
export function withoutSent<T extends object>(now: T, sent: T): Partial<T> {
  const left = Object.entries(now).filter(([name, value]) => sent[name as keyof T] !== value);
  return Object.fromEntries(left) as Partial<T>;
}
