import type { Secret } from '../core/index.ts';

/**
 * The secrets of one record, by JSON pointer (RFC 6901) into its representation: a client has `/secret`, a key
 * component `/config/privateKey/0`. The record itself never holds them; the store seals them together.
 */
export type Secrets = Readonly<Record<string, Secret>>;
