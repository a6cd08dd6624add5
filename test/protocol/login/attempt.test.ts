import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { senderOf } from '../../../src/protocol/index.ts';

describe('the sender that an address identifies (RFC 6177)', () => {
  const cases: readonly [address: string, sender: string][] = [
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:4711', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
    ['unknown', 'unknown'],
  ];
  for (const [address, sender] of cases)
    it(`is ${sender} for the address ${address}`, () => assert.equal(senderOf(address), sender));
});
