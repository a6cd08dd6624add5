import { ClientError } from './client-error.ts';

/** The secret of a confidential client, or a function that returns it. */
export type ClientSecret = string | (() => string | Promise<string>);

/**
 * Returns the secret. A function is called each time, so the secret can change at run time.
 *
 * @throws ClientError `callback_failed` if the function throws; `secret_missing` if the secret is empty or not a text
 */
export async function readSecret(clientId: string, source: ClientSecret): Promise<string> {
  let secret: unknown;
  try {
    secret = typeof source === 'function' ? await source() : source;
  } catch (cause) {
    throw new ClientError('callback_failed', `clientSecret of the client ${clientId} threw an error`, {
      cause,
    });
  }
  if (typeof secret === 'string' && secret !== '') return secret;
  const what = secret === '' ? 'is empty' : `is ${secret === null ? 'null' : typeof secret}, not a text`;
  throw new ClientError('secret_missing', `the secret of the client ${clientId} ${what}; set clientSecret`);
}
