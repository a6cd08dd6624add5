/** A JSON object of unknown fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for an object of JSON, which an array and null are not. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value itself if it is a JSON object, else an object without fields. */
export function jsonFields(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Parses JSON text. Returns undefined for text that is not JSON, or not an object. */
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
