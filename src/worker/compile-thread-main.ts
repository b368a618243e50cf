import { nodeBuiltin } from '../core/node-builtin.ts';
import type { FromCompiler, ToCompiler } from './compile/compile-protocol.ts';
import { serveCompiler } from './compile/compile-service.ts';

/** Compiles for a session in Node, in a thread of its own. */
const port = nodeBuiltin?.('node:worker_threads').parentPort;
if (!port) throw new Error('internal: no thread of Node');
const receive = serveCompiler((message, transfer = []) => port.postMessage(message, transfer));
port.on('message', (message: ToCompiler) => receive(message));
port.postMessage({ kind: 'ready' } satisfies FromCompiler);
