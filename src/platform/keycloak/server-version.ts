import { connectAdmin } from '../../client/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError, jsonFields, parseJsonObject } from '../../core/index.ts';

/** Timeout in milliseconds. */
const PATIENCE = 10_000;

/**
 * Returns the version of a running Keycloak, such as `26.7.3`. Returns undefined if the login fails or Keycloak does
 * not report its version.
 */
export async function askServerVersion(settings: Settings, baseUrl: string): Promise<string | undefined> {
  const { username, password } = settings.administrator;
  if (password === undefined) return undefined;
  try {
    const admin = await connectAdmin({ baseUrl, username, password, timeoutMilliseconds: PATIENCE });
    try {
      const { text } = await admin.request({ method: 'GET', path: '/admin/serverinfo' });
      return readVersion(text);
    } finally {
      await admin.logout();
    }
  } catch (error) {
    // The version is optional, because the database records it too.
    if (error instanceof IdkitError) return undefined;
    throw error;
  }
}

function readVersion(text: string): string | undefined {
  // If the response is not JSON, it is an error page or comes from another program.
  const { version } = jsonFields(parseJsonObject(text)?.['systemInfo']);
  return typeof version === 'string' && version !== '' ? version : undefined;
}
