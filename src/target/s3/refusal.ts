import { type ErrorCode, IdkitError } from '../../core/index.ts';
import { printable } from '../faults.ts';
import type { S3Account } from './account.ts';
import { findText } from './xml.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A response of S3 that is not 2xx. */
export class S3Refusal extends Error {
  override readonly name = 'S3Refusal';
  readonly status: number;
  /** The code of S3, such as `NoSuchKey`. Empty if the response has none. */
  readonly code: string;
  readonly headers: Headers;
  attempts = 1;
  readonly #message: string;

  constructor(status: number, xml: string, headers: Headers) {
    const code =
      findText(xml, 'Code')
        ?.replaceAll(/[^\w.-]/g, '')
        .slice(0, 64) ?? '';
    super(`S3 responded with ${status} ${code}`.trim());
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.#message = findText(xml, 'Message') ?? '';
  }

  /** Reports whether the same request may succeed a little later. */
  get mayPass(): boolean {
    if (FULL.has(this.code)) return false;
    return (this.status >= 500 && this.status !== 501) || this.status === 429 || PASSING.has(this.code);
  }

  /** The status, the code and the message of S3, without the keys. The rest of the response is never shown. */
  explain({ secretAccessKey, sessionToken }: S3Account): string {
    let text = this.#message;
    for (const secret of [secretAccessKey, sessionToken])
      if (secret !== undefined) text = text.replaceAll(secret.reveal(), '[secret]');
    return `S3 responded with ${[this.status, this.code].join(' ').trim()}${text === '' ? '' : `: ${printable(text, 200)}`}`;
  }
}

const PASSING = new Set(['RequestTimeout', 'SlowDown', 'OperationAborted', 'BadDigest', 'IncompleteBody']);
const FULL = new Set([
  'QuotaExceeded',
  'XMinioStorageFull',
  'XMinioAdminBucketQuotaExceeded',
  'InsufficientStorage',
  'StorageFull',
]);
const SKEW = new Set(['RequestTimeTooSkewed', 'RequestExpired']);
const CREDENTIALS = new Set([
  'AccessDenied',
  'AllAccessDisabled',
  'AccountProblem',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'SignatureDoesNotMatch',
]);

/** Converts a refusal into the operator's error. */
export function describeRefusal(label: string, account: S3Account, refusal: S3Refusal): IdkitError {
  const fault = (code: ErrorCode, text: string, ...hints: string[]) =>
    new IdkitError(code, `${label}: ${text}`, { hints });
  const { status, code } = refusal;
  const explained = refusal.explain(account);
  if (SKEW.has(code) || (status === 403 && skewSeconds(refusal) > 600)) {
    const seconds = skewSeconds(refusal);
    const off = seconds === 0 ? '' : ` by ${Math.round(seconds / 60)} min`;
    return fault(
      'IDKIT_FAILED',
      `the clock of this machine differs from that of S3${off}: ${explained}`,
      'set the clock, for example with timedatectl set-ntp true',
    );
  }
  if (status >= 300 && status < 400)
    return fault(
      'IDKIT_SETTING',
      `S3 redirects to another address, which idkit does not follow: ${explained}`,
      `set AWS_REGION to the region of the bucket${regionHint(refusal)}, or AWS_ENDPOINT_URL to its address`,
    );
  if (FULL.has(code) || status === 507) return fault('IDKIT_NO_SPACE', `no space left: ${explained}`);
  if (code === 'NoSuchBucket')
    return fault(
      'IDKIT_NOT_FOUND',
      `the bucket does not exist: ${explained}`,
      'create it first; idkit creates no buckets',
    );
  if (status === 401 || status === 403 || CREDENTIALS.has(code))
    return fault(
      'IDKIT_CREDENTIALS',
      explained,
      'check the keys and their permissions: list, read and write below the prefix, and delete only for --delete',
    );
  if (status >= 500 || status === 429)
    return fault('IDKIT_UNREACHABLE', `${explained}, after ${refusal.attempts} attempts`);
  return fault('IDKIT_FAILED', explained);
}

/** The difference in seconds between the clocks, from the header Date. 0 if it is missing. */
function skewSeconds({ headers }: S3Refusal): number {
  const date = headers['date'];
  const there = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(there) ? 0 : Math.abs(Date.now() - there) / 1000;
}

function regionHint({ headers }: S3Refusal): string {
  const region = headers['x-amz-bucket-region'];
  return typeof region === 'string' && /^[a-z0-9-]{1,40}$/.test(region) ? `, ${region}` : '';
}
