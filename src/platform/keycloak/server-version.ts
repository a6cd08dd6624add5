import { connectAdmin, fetchService } from '../../client/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';

/** Milliseconds that the service may take to tell. */
const PATIENCE = 10_000;

/**
 * The version that a running Keycloak tells its administrator, `26.7.3`; undefined where nobody can log in or it does
 * not say.
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
    // Whoever wants to know it can do without: the database tells it too.
    if (error instanceof IdkitError || error instanceof DOMException || error instanceof TypeError)
      return undefined;
    throw error;
  }
}

function readVersion(text: string): string | undefined {
  try {
    const version: unknown = (JSON.parse(text) as { systemInfo?: { version?: unknown } }).systemInfo?.version;
    return typeof version === 'string' && version !== '' ? version : undefined;
  } catch {
    // An error page, or the answer of something else.
    return undefined;
  }
}
