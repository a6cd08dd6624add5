import { connectAdmin, fetchService } from '../../client/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError, jsonFields, parseJsonObject } from '../../core/index.ts';

/** Timeout in milliseconds. */
const PATIENCE = 10_000;

/**
 * Asks a running Keycloak for its version, such as `26.7.3`; undefined if the login fails or Keycloak does not report
 * it.
 */
export async function askServerVersion(settings: Settings, baseUrl: string): Promise<string | undefined> {
  const { username, password } = settings.administrator;
  if (password === undefined) return undefined;
  try {
    const admin = await connectAdmin({ baseUrl, username, password, timeoutMilliseconds: PATIENCE });
    try {
      const token = await admin.accessToken();
      const answer = await fetchService(`${baseUrl}/admin/serverinfo`, {
        method: 'GET',
        headers: { authorization: `Bearer ${token.reveal()}`, accept: 'application/json' },
        signal: AbortSignal.timeout(PATIENCE),
      });
      return readVersion(await answer.text());
    } finally {
      await admin.logout();
    }
  } catch (error) {
    // The version is optional: the database records it too.
    if (error instanceof IdkitError || error instanceof DOMException || error instanceof TypeError)
      return undefined;
    throw error;
  }
}

function readVersion(text: string): string | undefined {
  // An error page, or the response of another program, is not JSON.
  const { version } = jsonFields(parseJsonObject(text)?.['systemInfo']);
  return typeof version === 'string' && version !== '' ? version : undefined;
}
