// Opens the broker of BROKER_URL, or the embedded one, uses it once and closes it. Exits when nothing is left open.
import { pino } from 'pino';
import { openBroker } from '../../../src/platform/broker/index.ts';

const broker = await openBroker({
  brokerUrl: process.env['BROKER_URL'],
  nodeId: 'node_brief',
  logger: pino({ enabled: false }),
});
const received = await broker.ping().then(
  () => true,
  () => false,
);
await broker.close();
process.stdout.write(received ? 'response' : 'no response');
