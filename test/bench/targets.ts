/** What each ratio must and should reach; `≤` where less is better. */
export const TARGETS: Readonly<Record<string, { must: string; aim: string }>> = {
  'client credentials RS256 / bare signing': { must: '0.70', aim: '0.85' },
  'refresh RS256, durable / bare signing': { must: '0.60', aim: '0.75' },
  'client credentials ES256 / bare signing': { must: '0.28', aim: '0.42' },
  'password grant / bare Argon2': { must: '0.70', aim: '0.82' },
  'client credentials RS256 / node-oidc-provider': { must: '1.05', aim: '1.25' },
  'refresh RS256 / node-oidc-provider': { must: '1.0', aim: '1.2' },
  'refresh at many families / at few': { must: '0.80', aim: '0.90' },
  'group commit / a commit per call, fsync +1 ms': { must: '6', aim: '10' },
  '/health/ready under password logins / idle': { must: '≤ 5', aim: '≤ 2' },
  'start to ready / node -e 0': { must: '≤ 8', aim: '≤ 5' },
  'resident MB at many families under load': { must: '≤ 250', aim: '≤ 160' },
  'backup / sqlite3 .dump | gzip -6': { must: '≤ 1.2', aim: '≤ 0.8' },
  'p99 of refreshes during backup / without (or 10 ms)': { must: '≤ 3', aim: '≤ 2' },
  'verify / sha256sum + gunzip -t': { must: '≤ 2', aim: '≤ 1.2' },
  'restore load / gunzip | sqlite3': { must: '≤ 1.1', aim: '≤ 0.7' },
};
