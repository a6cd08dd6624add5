import type { Role } from '../../api/representations.ts';

/** Why a holder has a role: it was assigned to the holder or to one of its groups, or another role includes it. */
export type Source = { how: 'direct' } | { how: 'group'; path: string } | { how: 'role'; role: Role };

/** A role that a holder has, with every reason. */
export interface EffectiveRole {
  role: Role;
  sources: readonly [Source, ...Source[]];
}

/** Roles that were assigned to a holder or to one of its groups. */
export interface Assigned {
  source: Source;
  roles: readonly Role[];
}

/**
 * Returns every role that a holder has, each once, in the order in which they are found: assigned roles first.
 *
 * @param includedIn returns the roles that a composite role includes directly
 */
export async function explainRoles(
  assigned: readonly Assigned[],
  includedIn: (role: Role) => Promise<readonly Role[]>,
): Promise<readonly EffectiveRole[]> {
  const found = new Map<string, EffectiveRole>();
  /** Returns the roles that were not found before. */
  const add = (source: Source, roles: readonly Role[]): readonly Role[] =>
    roles.filter((role) => {
      const known = found.get(role.id);
      const sources = known === undefined ? ([source] as const) : ([...known.sources, source] as const);
      found.set(role.id, { role, sources });
      return known === undefined;
    });
  let level = assigned.flatMap(({ source, roles }) => add(source, roles));
  while (level.length > 0) {
    const composites = level.filter(({ composite }) => composite === true);
    const included = await Promise.all(composites.map(includedIn));
    level = composites.flatMap((role, index) => add({ how: 'role', role }, included[index] ?? []));
  }
  return [...found.values()];
}

/** Returns the reason as a phrase. */
export function sourceText(source: Source): string {
  switch (source.how) {
    case 'direct':
      return 'Assigned directly';
    case 'group':
      return `From group ${source.path}`;
    case 'role':
      return `Included in ${source.role.name}`;
  }
}
