import type { RealmConfiguration } from '../store/index.ts';
import type { ProtocolContext } from './context.ts';
import type { EventDraft } from './events.ts';

/** Someone tries to log in, by whatever form: what the proof works with. */
export interface LoginAttempt {
  ctx: ProtocolContext;
  configuration: RealmConfiguration;
  /** Told what is found out about the user. */
  event: EventDraft;
  /** For the brute-force counters. */
  remoteAddress: string;
}
