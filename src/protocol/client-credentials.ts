import type { ProtocolRequest } from './context.ts';

/** What a request says about its client; nothing of it is proved. */
export interface PresentedClient {
  clientId?: string;
  secret?: string;
  /** `client_assertion_type` as sent (RFC 7521 §4.2). */
  assertionType?: string;
  /** `client_assertion` as sent. */
  assertion?: string;
}

/**
 * Reads client id and secret from HTTP Basic (RFC 6749 §2.3.1: both form-url-encoded) and from the form; fields
 * of the form win, also when they are the wrong ones (facts §2).
 */
export function readClientCredentials(
  request: Pick<ProtocolRequest, 'authorization' | 'form'>,
): PresentedClient {
  const basic = parseBasic(request.authorization);
  const clientId = request.form.get('client_id') ?? basic?.clientId;
  const secret = request.form.get('client_secret') ?? basic?.secret;
  const assertionType = request.form.get('client_assertion_type');
  const assertion = request.form.get('client_assertion');
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(secret === undefined ? {} : { secret }),
    ...(assertionType === undefined ? {} : { assertionType }),
    ...(assertion === undefined ? {} : { assertion }),
  };
}

/** Undefined for another scheme, no base64, no colon, or text that is no UTF-8 form text. */
function parseBasic(authorization: string | undefined): { clientId: string; secret: string } | undefined {
  const match = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization ?? '');
  if (match === null) return undefined;
  const text = Buffer.from(match[1]!, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  const clientId = decodeFormText(text.slice(0, colon));
  const secret = decodeFormText(text.slice(colon + 1));
  if (clientId === undefined || secret === undefined) return undefined;
  return { clientId, secret };
}

function decodeFormText(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
