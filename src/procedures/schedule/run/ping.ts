import { setTimeout as pause } from 'node:timers/promises';
import { type Secret, systemErrorCode } from '../../../core/index.ts';

/** Timeout of one request in milliseconds. */
const TIMEOUT = 10_000;
/** Pauses in milliseconds before the second and the third try. */
const PAUSES = [1_000, 5_000];

/**
 * Posts a text to the URL of a monitoring service. Follows no redirects, because they could lead the log to another
 * place. Returns why the request failed, without the URL, which can contain a secret. Returns undefined if it succeeded.
 */
export async function postPing(
  url: Secret,
  job: string,
  text: string,
  { signal, pauses = PAUSES }: { signal: AbortSignal; pauses?: readonly number[] },
): Promise<string | undefined> {
  for (let attempt = 0; ; attempt++) {
    const fault = await post(url.reveal().replaceAll('{job}', job), text, signal);
    const wait = pauses[attempt];
    if (fault === undefined || !fault.again || wait === undefined || signal.aborted) return fault?.why;
    await pause(wait, undefined, { signal }).catch(() => undefined);
  }
}

interface Fault {
  why: string;
  /** Whether another try can succeed. */
  again: boolean;
}

async function post(url: string, body: string, signal: AbortSignal): Promise<Fault | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'user-agent': 'idkit' },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]),
    });
    await response.body?.cancel();
    if (response.ok) return undefined;
    const again = response.status >= 500 || response.status === 429;
    return { why: `it responded with the status ${response.status}`, again };
  } catch (error) {
    // The message of the error can contain the URL.
    const { cause } = error instanceof Error ? error : {};
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    const why = isLate
      ? `it did not respond within ${TIMEOUT / 1000} s`
      : (systemErrorCode(cause) ?? 'the connection failed');
    return { why, again: true };
  }
}
