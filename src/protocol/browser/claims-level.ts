import type { Client } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { isJsonObject, parseJsonObject } from '../json-object.ts';

/** The level of a login with a password or with a second factor (facts §6.1). */
const LEVEL = 1;

/**
 * An `acr` that is essential is one of the values that are named (OpenID Connect Core §5.5.1.1): levels as numbers, or
 * by their names in `acr.loa.map` of client or realm.
 */
export function reachesLevel(
  { realm }: RealmConfiguration,
  client: Client,
  claims: string | undefined,
): boolean {
  const acr = asObject(asObject(parseJsonObject(claims ?? '{}')?.['id_token'])['acr']);
  const values = [acr['value'] ?? acr['values'] ?? []].flat();
  if (acr['essential'] !== true || values.length === 0) return true;
  const names = {
    ...parseJsonObject(realm.settings.attributes['acr.loa.map'] ?? '{}'),
    ...parseJsonObject(client.attributes['acr.loa.map'] ?? '{}'),
  };
  return values.some((value) => {
    if (!isLevel(value)) return false;
    const level = Object.hasOwn(names, value) ? names[value] : value;
    return isLevel(level) && level !== '' && Number(level) <= LEVEL;
  });
}

/** An object is no level, and may not even be text. */
function isLevel(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}
