import { configurationRules } from './configuration.ts';
import { countRules } from './counts.ts';
import { dependentRules } from './dependents.ts';
import { eventRules } from './events.ts';
import { guaranteesRules } from './guarantees.ts';
import { guessesRules } from './guesses.ts';
import { listRules } from './lists.ts';
import { loginRules } from './login.ts';
import { manyRules } from './many.ts';
import { openLoginRules } from './open-logins.ts';
import { realmPartsRules } from './realm-parts.ts';
import { refreshGraceRules } from './refresh-grace.ts';
import { replicasRules } from './replicas.ts';
import { revisionRules } from './revisions.ts';
import { sessionsRules } from './sessions.ts';
import { type ConformanceBackend, ruleOf } from './suite.ts';
import { trashRules } from './trash.ts';

/**
 * Defines tests for every method of the store contract. Titles in quotation marks are guarantees from the contract. A
 * backend only has to open stores.
 */
export function storeConformance(name: string, backend: ConformanceBackend): void {
  const rule = ruleOf(name, backend);
  guaranteesRules(rule);
  configurationRules(rule);
  realmPartsRules(rule);
  revisionRules(rule);
  sessionsRules(rule);
  listRules(rule);
  eventRules(rule);
  manyRules(rule);
  dependentRules(rule);
  loginRules(rule);
  openLoginRules(rule);
  refreshGraceRules(rule);
  replicasRules(rule);
  guessesRules(rule);
  countRules(rule);
  trashRules(rule);
}
