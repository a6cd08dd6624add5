type JsonObject = Readonly<Record<string, unknown>>;

/** Text as a JSON object; undefined for text that is none. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The same for text in base64url. */
export function decodeJsonObject(encoded: string): JsonObject | undefined {
  return parseJsonObject(Buffer.from(encoded, 'base64url').toString('utf8'));
}

/** A list is none. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
