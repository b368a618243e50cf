import type { CompileContext } from './compile-context.ts';
import type { FromCompiler, ToCompiler } from './compile-protocol.ts';

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
