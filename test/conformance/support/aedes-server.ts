// A substitute for a real broker: `node aedes-server.ts <port>` serves MQTT 3.1.1 on the loopback until it is killed.
import { createServer } from 'node:net';
import { Aedes } from 'aedes';

const broker = await Aedes.createBroker();
createServer((socket) => void broker.handle(socket)).listen(Number(process.argv[2]), '127.0.0.1');
