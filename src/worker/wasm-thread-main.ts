import { nodeBuiltin } from '../core/node-builtin.ts';
import { servePart } from '../device/wasm/parts/serve-part.ts';
import { serveThread } from '../device/wasm/threads/serve-thread.ts';
import type { ToWasmThread } from './devices/wasm-thread-role.ts';

/** Does a part of the work of a wasm device in Node, in a thread of its own. */
const port = nodeBuiltin?.('node:worker_threads').parentPort;
if (!port) throw new Error('internal: no thread of Node');
port.once('message', ({ start }: ToWasmThread) => {
  if (start !== undefined) return serveThread(start);
  servePart({
    post: (message, transfer) => port.postMessage(message, transfer),
    onMessage: (take) => void port.on('message', take),
  });
});
