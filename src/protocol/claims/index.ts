// Claims: from scopes, roles and protocol mappers to what stands in a token (facts §6).
export type { ClaimsInput, ClaimsTarget, GrantedScopes } from './contract.ts';
