import type { CompileContext } from './compile-context.ts';
import type { FromCompiler, ToCompiler } from './compile-protocol.ts';
import { COMPILER_NAME } from './protocol/session-service.ts';

/** Returns true in a worker that one with sessions started, with the same script, to compile. */
export function isCompiler(): boolean {
  const { name } = globalThis as { name?: unknown };
  return name === COMPILER_NAME && 'DedicatedWorkerGlobalScope' in globalThis;
}

/** Serves as one. The first message says where the other files of the package's worker are. */
export function serveAsCompiler(tables: CompileContext['tables']): void {
  const post = (message: FromCompiler, transfer: readonly ArrayBuffer[] = []): void =>
    globalThis.postMessage(message, { transfer: [...transfer] });
  let answer: Promise<(message: ToCompiler) => void> | undefined;
  globalThis.addEventListener('message', ({ data }: MessageEvent<ToCompiler>) => {
    if ('files' in data) globalThis.weftFiles = data.files;
    answer ??= import('./compile-service.ts').then(({ serveCompiler }) =>
      serveCompiler(post, tables),
    );
    void answer.then((receive) => receive(data));
  });
  post({ kind: 'ready' });
}
