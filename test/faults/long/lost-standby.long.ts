import { test } from 'vitest';
import { expectToOutliveStandby } from '../lost-standby.ts';

// Longer than the time after which a silent node counts as dead.
test('a synchronous standby is lost for 25 s: verifications continue, and left sessions stay bounded', async () => {
  await expectToOutliveStandby(25_000);
});
