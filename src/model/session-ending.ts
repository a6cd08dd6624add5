import type { UserSession } from './session.ts';

/**
 * Tells the clients of user sessions that these have ended (Back-Channel Logout 1.0 §2.5). Who ends sessions asks
 * first, while the store still knows which clients took part, and tells once they are ended.
 */
export interface SessionEndings {
  /**
   * Finds which clients are to be told of the end of these sessions. The function that is answered sends it; it
   * resolves when all clients were reached or after a short while, goes on trying behind that, and never throws.
   */
  prepare(realmId: string, ending: EndingSessions): Promise<() => Promise<void>>;
}

/**
 * Sessions of one user with the clients that have tokens of them; all of a user's; or the part that one client, whose
 * consent is withdrawn, has in those of a user that are not offline.
 */
export type EndingSessions =
  | {
      sessions: readonly {
        session: Pick<UserSession, 'id' | 'userId' | 'offline'>;
        clientUuids: readonly string[];
      }[];
    }
  | { userId: string; offlineToo: boolean }
  | { userId: string; clientUuid: string };
