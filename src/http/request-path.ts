/** Why a path is refused before anything looks at it, in Keycloak's shape (facts §1, [26.5] and [26.6]). */
export interface PathFault {
  error: 'missingNormalization' | 'invalidCharacter';
  error_description: string;
}

const suspicious = /\/\/|\/\.|\.\.|;|%(?:00|2e)|\\/i;

/** What is wrong with the raw path or query of a request, or undefined. */
export function findPathFault(rawUrl: string): PathFault | undefined {
  const end = rawUrl.indexOf('?');
  const path = end < 0 ? rawUrl : rawUrl.slice(0, end);
  if (suspicious.test(path)) {
    if (path.includes(';')) return invalidCharacter("path contains invalid character ';'");
    if (path.includes('%00')) return invalidCharacter('path contains a NUL byte');
    const dotted = path.replace(/%2e/gi, '.').replaceAll('\\', '/');
    if (/\/\/|\/\.{1,2}(?:\/|$)/.test(dotted))
      return { error: 'missingNormalization', error_description: 'Request path not normalized' };
  }
  if (end >= 0 && rawUrl.includes('%00', end)) return invalidCharacter('query contains a NUL byte');
  return undefined;
}

function invalidCharacter(what: string): PathFault {
  return { error: 'invalidCharacter', error_description: `Request ${what}` };
}
