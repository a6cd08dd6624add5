import { IdkitError, type Random, renderCount, Secret, systemRandom } from '../core/index.ts';

const KEY_BYTES = 32;

/** Generates a master key: 32 random bytes in base64. */
export function generateMasterKey(random: Random = systemRandom): Secret {
  return new Secret(random.bytes(KEY_BYTES).toString('base64'));
}

/**
 * Returns the key if it is 32 bytes in standard base64. The error describes the fault but never contains the value.
 *
 * @param variable the variable's name, for the message
 * @throws IDKIT_MASTER_KEY_MISSING, IDKIT_MASTER_KEY_INVALID
 */
export function checkMasterKey(key: Secret | undefined, variable = 'IDKIT_MASTER_KEY'): Secret {
  if (key === undefined || key.reveal() === '') {
    throw new IdkitError('IDKIT_MASTER_KEY_MISSING', `${variable} is not set`, {
      hints: [
        'in .env of the platform directory, set it to the key with which the database was created',
        'for a new platform directory, idkit init generates one',
      ],
    });
  }
  const text = key.reveal();
  const bytes = Buffer.from(text, 'base64');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || bytes.toString('base64') !== text) {
    throw new IdkitError('IDKIT_MASTER_KEY_INVALID', `${variable} is not base64`, {
      hints: [
        'a master key is 32 random bytes in base64, 44 characters, as `openssl rand -base64 32` prints them',
      ],
    });
  }
  if (bytes.length !== KEY_BYTES) {
    throw new IdkitError(
      'IDKIT_MASTER_KEY_INVALID',
      `${variable} has ${renderCount(bytes.length, 'byte')}, but a master key has ${KEY_BYTES}`,
      {
        hints: [
          'a master key is 32 random bytes in base64, 44 characters, as `openssl rand -base64 32` prints them',
        ],
      },
    );
  }
  return key;
}
