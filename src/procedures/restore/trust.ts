import type { Verdict } from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import { type Brought, renderBrought } from './effects.ts';
import type { RestoreOptions } from './options.ts';

/**
 * Who vouches for the set: its seal, the operator (`--trust-unsealed`), or the run that is resumed, which took the same
 * checksums for good.
 */
export function isTrusted(
  { seal, checksumsSha256 }: Pick<Verdict, 'seal' | 'checksumsSha256'>,
  { trustUnsealed }: Pick<RestoreOptions, 'trustUnsealed'>,
  accepted: string | undefined,
): boolean {
  if (seal === 'holds' || trustUnsealed === true) return true;
  return accepted !== undefined && accepted === checksumsSha256;
}

/** What a restore says that takes nothing over from a set for which nobody vouches. */
export function notTrusted(
  name: string,
  seal: Verdict['seal'],
  command: 'restore' | 'drill',
  brought: readonly Brought[] = [],
): IdkitError {
  const why =
    seal === 'unsealed'
      ? `${name} is unsealed, so nothing shows that it is what was backed up`
      : `${name} is sealed, and its seal was not checked: no passphrase is given`;
  const unread = `a ${command} would load and run what the set holds`;
  return new IdkitError(
    'IDKIT_UNSEALED',
    brought.length === 0
      ? `${why}; ${unread}`
      : `${why}; ${command} would take over ${brought.map(renderBrought).join('; ')}`,
    {
      hints: [
        'nothing was run, reached or loaded',
        ...(seal === 'unsealed' ? [] : ['give the passphrase that the set was made with; it opens the seal']),
        `--trust-unsealed takes the set as it is`,
      ],
    },
  );
}
