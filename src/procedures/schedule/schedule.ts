import type { Settings } from '../../config/index.ts';

/** Cron lines or systemd units for the spec's Limits table; `command` is how idkit is called there. */
export function renderSchedule(
  _settings: Settings,
  _options: { format: 'cron' | 'systemd'; command: string },
): string {
  return '';
}
