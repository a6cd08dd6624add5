/**
 * Recorded cases that idkit answers differently on purpose, as `area/id`, each with the reason. A case that
 * stands here and is answered the same fails the test, so the list cannot rot.
 */
export const DELIBERATE_DIFFERENCES: Readonly<Record<string, string>> = {};
