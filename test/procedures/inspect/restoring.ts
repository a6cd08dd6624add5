import { restoreItem } from '../../../src/procedures/index.ts';
import { PASSPHRASE, procedureOptions } from '../platform.ts';
import type { ServedPlatform } from './served-platform.ts';

/** Ids of records of the realm `acme`. */
export const ALICE = '00ad8584-84ce-4394-8765-beb9c63bd177';
export const ORDERS_API = '5b60f5e6-429d-4e1c-ba67-b2edb8f8ff17';
export const ORDERS_JOB = '2ce410ba-7378-4410-86b0-7f4889547d2f';
export const STAFF = '3b1703a5-508d-4f14-a225-4c7a7ffae0f3';

/** Returns what puts records of a set back. */
export const restoring = ({ settings, admin }: ServedPlatform, set: string) => {
  return (item: { realm?: string; user?: string; client?: string; group?: string }, own: object = {}) =>
    restoreItem(settings, {
      ...procedureOptions(),
      set,
      admin,
      passphrase: PASSPHRASE,
      item: { realm: 'acme', ...item },
      ...own,
    });
};
