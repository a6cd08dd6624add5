import type { Target } from './contract.ts';
import { parseLocation } from './location.ts';

/** How a target is opened. */
export interface OpenTargetOptions {
  /** The environment: keys and endpoint of S3, and what ssh and rclone need. Default: `process.env`. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Time in milliseconds without a byte after which a transfer fails. Default: 60,000. */
  stallMilliseconds?: number;
  /** Pause in milliseconds before a request to S3 is sent again; it quadruples each time. Default: 200. */
  pauseMilliseconds?: number;
  signal?: AbortSignal;
}

/**
 * Opens a target. Nothing is connected or created before the first call. The caller closes it.
 *
 * @param location see `parseLocation`; a directory must be absolute
 * @throws IDKIT_SETTING for a wrong location or missing keys
 */
export async function openTarget(location: string, options: OpenTargetOptions = {}): Promise<Target> {
  const place = parseLocation(location);
  switch (place.kind) {
    case 'directory': {
      const { openDirectoryTarget } = await import('./directory/directory.ts');
      return openDirectoryTarget(place.path);
    }
    case 's3': {
      const { openS3Target } = await import('./s3/s3.ts');
      return openS3Target(place, options);
    }
    case 'ssh': {
      const { openSshTarget } = await import('./ssh/ssh.ts');
      return openSshTarget(place, options);
    }
    case 'rclone': {
      const { openRcloneTarget } = await import('./rclone/rclone.ts');
      return openRcloneTarget(place, options);
    }
  }
}
