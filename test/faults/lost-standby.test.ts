import { test } from 'vitest';
import { expectToOutliveStandby } from './lost-standby.ts';

test('while a synchronous standby is lost, reads succeed and writes are refused in time', async () => {
  await expectToOutliveStandby(4_000);
}, 90_000);
