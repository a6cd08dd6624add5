/** A moment as people of the browser's language write it; a dash where there is none. */
export function formatTime(milliseconds: number | undefined): string {
  if (milliseconds === undefined || milliseconds === 0) return '–';
  return new Date(milliseconds).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}
