/** A JSON object with unknown fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Reports whether a value is a JSON object. Arrays and null are not objects. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value itself if it is a JSON object, otherwise an empty object. */
export function jsonFields(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Parses a JSON object. Returns undefined if the text is not JSON or is another kind of value. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Parses JSON text in base64url, with the same result as `parseJsonObject`. */
export function decodeJsonObject(encoded: string): JsonObject | undefined {
  return parseJsonObject(Buffer.from(encoded, 'base64url').toString('utf8'));
}
