import { findJobRecord, type JobRecord, putJobRecord } from '../../../backupset/index.ts';
import { IdkitError } from '../../../core/index.ts';

/** The records of all jobs of a platform. */
export interface JobRecords {
  find(job: string): Promise<JobRecord | undefined>;
  put(job: string, record: JobRecord): Promise<void>;
}

/**
 * Opens the records in a backup root. While the root cannot be written, they are only in memory, so that a job of a
 * scheduler does not run again and again.
 *
 * @param note receives why a record could not be stored
 */
export function openJobRecords(root: string, note: (message: string) => void): JobRecords {
  const unstored = new Map<string, JobRecord>();
  return {
    find: async (job) => unstored.get(job) ?? (await findJobRecord(root, job)),
    async put(job, record) {
      try {
        await putJobRecord(root, job, record);
        unstored.delete(job);
      } catch (error) {
        if (!(error instanceof IdkitError)) throw error;
        unstored.set(job, record);
        note(`the result of ${job} could not be stored: ${error.message}`);
      }
    },
  };
}
