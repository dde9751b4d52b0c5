import { test } from 'vitest';
import { expectToOutliveStandby } from './lost-standby.ts';

test('while a synchronous standby is lost, what is read is answered and what is written is refused in time', async () => {
  await expectToOutliveStandby(4_000);
}, 90_000);
