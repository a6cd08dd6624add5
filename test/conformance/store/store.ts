import { configurationRules } from './configuration.ts';
import { guaranteesRules } from './guarantees.ts';
import { guessesRules } from './guesses.ts';
import { loginRules } from './login.ts';
import { openLoginRules } from './open-logins.ts';
import { replicasRules } from './replicas.ts';
import { revisionRules } from './revisions.ts';
import { sessionsRules } from './sessions.ts';
import { type ConformanceBackend, ruleOf } from './suite.ts';

/** Tests every method of the contract and quotes its guarantees. A backend only opens stores. */
export function storeConformance(name: string, backend: ConformanceBackend): void {
  const rule = ruleOf(name, backend);
  guaranteesRules(rule);
  configurationRules(rule);
  revisionRules(rule);
  sessionsRules(rule);
  loginRules(rule);
  openLoginRules(rule);
  replicasRules(rule);
  guessesRules(rule);
}
