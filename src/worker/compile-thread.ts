import type { FromCompiler, ToCompiler } from './compile-protocol.ts';
import { type OwnThread, startOwnThread, type ThreadEvents } from './own-thread.ts';
import { COMPILER_NAME } from './protocol/session-service.ts';

/**
 * The thread's file in Node; in the package, that of its entry. No bundler must take it for an
 * address of its own.
 */
const NODE_FILE: string = './compile-thread-main.ts';

/** Starts a thread that compiles; undefined where there is none. */
export function startCompileThread(
  events: ThreadEvents<FromCompiler>,
): OwnThread<ToCompiler> | undefined {
  return startOwnThread({ name: COMPILER_NAME, nodeFile: NODE_FILE }, events);
}
