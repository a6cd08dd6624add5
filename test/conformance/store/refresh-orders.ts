import assert from 'node:assert/strict';
import type { Store } from '../../../src/store/index.ts';
import { aFamily, aSession, hash, START } from './records.ts';

const GRACE = 30;

/** One use of a refresh token: who uses the newest token that it received, when, and whether the response arrives. */
interface Use {
  holder: 'owner' | 'thief';
  /** Seconds since the previous use. */
  after: 1 | 31;
  arrives: boolean;
}

const USES: readonly Use[] = (['owner', 'thief'] as const).flatMap((holder) =>
  ([1, 31] as const).flatMap((after) => [true, false].map((arrives) => ({ holder, after, arrives }))),
);

/**
 * Runs every sequence of `length` uses by two holders of the same refresh token, each on its own session, and checks each
 * result against the rules of docs/keycloak/tokens.md#grace. The uses alternate between the stores. Returns the number of
 * sequences.
 */
export async function checkAllOrders(length: number, stores: readonly Store[]): Promise<number> {
  const count = USES.length ** length;
  const lanes = Array.from({ length: 16 }, async (_, lane) => {
    for (let number = lane; number < count; number += 16) {
      const uses = Array.from(
        { length },
        (_, i) => USES[Math.floor(number / USES.length ** i) % USES.length]!,
      );
      await checkOrder(`order-${length}-${number}`, uses, stores);
    }
  });
  await Promise.all(lanes);
  return count;
}

async function checkOrder(id: string, uses: readonly Use[], stores: readonly Store[]): Promise<void> {
  const token = (number: number) => `${id} ${number}`;
  await stores[0]!.startSession(
    aSession({ id }),
    aFamily({ id, sessionId: id, currentHash: hash(token(0)) }),
  );
  /** The number of the newest token that each holder has received. The token that was stolen is number 0. */
  const held = { owner: 0, thief: 0 };
  /** The number of the newest token, and when each token was first used. */
  let newest = 0;
  const usedAt: number[] = [];
  let now = START;
  for (const [step, { holder, after, arrives }] of uses.entries()) {
    now += after;
    const presented = held[holder];
    const next = token(newest + 1);
    const result = await stores[step % stores.length]!.rotateRefreshToken({
      sessionId: id,
      familyId: id,
      presentedHash: hash(token(presented)),
      nextHash: hash(next),
      now,
      singleUse: true,
      maxReuse: 0,
      grace: { seconds: GRACE, successor: Buffer.from(next) },
    });
    const about = `${JSON.stringify(uses.slice(0, step + 1))}: ${result.outcome}`;
    if (presented === newest) {
      assert.equal(result.outcome, 'rotated', about);
      usedAt[presented] = now;
      newest++;
    } else if (presented === newest - 1 && now - usedAt[presented]! <= GRACE) {
      // The successor is unused and the first use is recent: this may be the client whose response was lost.
      assert.equal(result.outcome, 'repeated', about);
      assert.equal(result.outcome === 'repeated' && result.successor.toString(), token(newest), about);
    } else {
      assert.equal(result.outcome, 'reused', about);
      assert.equal(await stores[0]!.findSession(id, false), undefined, about);
      return;
    }
    if (arrives) held[holder] = newest;
  }
}
