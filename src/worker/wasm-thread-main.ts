import { nodeBuiltin } from '../core/node-builtin.ts';
import { serveThread } from '../device/wasm/threads/serve-thread.ts';
import type { ToWasmThread } from './wasm-thread-role.ts';

/** Does a part of the work of a wasm device in Node, in a thread of its own. */
const port = nodeBuiltin?.('node:worker_threads').parentPort;
if (!port) throw new Error('internal: no thread of Node');
port.once('message', ({ start }: ToWasmThread) => serveThread(start));
