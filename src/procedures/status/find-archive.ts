import { archivePosition } from '../../archive/index.ts';
import { isForeignArchive, type Settings } from '../../config/index.ts';
import { readArchive } from '../archive.ts';
import { finding, type Judgement } from './judge.ts';
import type { StatusReport } from './report.ts';

/** A delay in seconds that is normal while the target responds slowly. */
const NORMAL_LAG = 60;

/** What the service notes about its archive, and what is wrong with it. */
export async function findArchive(
  settings: Settings,
  now: number,
): Promise<{ value: StatusReport['archive']; judgements: readonly Judgement[] }> {
  const { archive } = settings.backup;
  // pgBackRest and Barman report on their own archives.
  if (archive === null || settings.service === 'keycloak' || isForeignArchive(archive))
    return { value: undefined, judgements: [] };
  const state = await readArchive(settings);
  if (state?.newest === undefined || state.base === undefined) {
    const why = state?.fault ?? 'idkit serve has not made a complete base yet';
    return {
      value: undefined,
      judgements: [finding('ARCHIVE_BROKEN', `no moment can be restored from the archive: ${why}`)],
    };
  }
  const time = (at: number) => new Date(at).toISOString();
  const { lagSeconds = 0 } = archivePosition(state, now);
  const judgements: Judgement[] = [];
  if (lagSeconds > Math.max(NORMAL_LAG, 10 * settings.backup.archiveSeconds))
    judgements.push(
      finding(
        'ARCHIVE_BEHIND',
        `nothing after ${time(state.newest)} can be restored from the archive: ${state.fault ?? 'the target is slow'}`,
      ),
    );
  const open = state.gaps.find(({ until }) => until === undefined);
  if (open !== undefined)
    judgements.push(finding('ARCHIVE_BROKEN', `the archive ends at ${time(open.from)}: ${open.why}`));
  return {
    value: {
      target: state.target,
      newest: time(state.newest),
      lagSeconds,
      ...(state.fault === undefined ? {} : { fault: state.fault }),
      gaps: state.gaps.map(({ from, until, why }) => ({
        from: time(from),
        ...(until === undefined ? {} : { until: time(until) }),
        why,
      })),
    },
    judgements,
  };
}
