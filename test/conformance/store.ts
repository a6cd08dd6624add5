import { configurationRules } from './store-configuration.ts';
import { guaranteesRules } from './store-guarantees.ts';
import { guessesRules } from './store-guesses.ts';
import { loginRules } from './store-login.ts';
import { openLoginRules } from './store-open-logins.ts';
import { replicasRules } from './store-replicas.ts';
import { revisionRules } from './store-revisions.ts';
import { sessionsRules } from './store-sessions.ts';
import { type ConformanceBackend, ruleOf } from './suite.ts';

/** The guarantees of the contract, quoted, and each of its verbs; a backend only opens stores. */
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
