import type { DataBlock } from '../../bytecode/file/executable-reader.ts';
import type { Assembled } from '../../bytecode/build/draft.ts';
import { blocksOf } from '../../bytecode/file/blocks-of.ts';
import { errorFromData, errorToData } from '../../core/errors.ts';
import type { CompileContext } from './compile-context.ts';
import { compileAnyOrder } from './compile-order.ts';
import type { PassService } from './pass-service.ts';
import type {
  AskType,
  CompileOrder,
  FromCompiler,
  TextOrder,
  ToCompiler,
} from './compile-protocol.ts';

type Answer = Extract<ToCompiler, { readonly kind: 'type' | 'no type' }>;

/** Sends a message to the thread that started this one. */
type Post = (message: FromCompiler, transfer?: readonly ArrayBuffer[]) => void;

/** Compiles one model for the thread that started this one, which ends it. Takes its messages. */
export function serveCompiler(
  post: Post,
  tables?: CompileContext['tables'],
): (message: ToCompiler) => void {
  let data: Assembled['data'] | undefined;
  let blocks: Iterator<DataBlock> | undefined;
  let answered: ((answer: Answer) => void) | undefined;
  const askType: AskType = async (node) => {
    const answer = await new Promise<Answer>((resolve) => {
      answered = resolve;
      post({ kind: 'type', node });
    });
    if (answer.kind === 'no type') throw errorFromData(answer.error);
    return answer.outputs;
  };
  const start = async (order: CompileOrder | TextOrder): Promise<void> => {
    data = await compile(order, post, { tables, askType });
    blocks = blocksOf(data)[Symbol.iterator]();
  };
  const next = async (): Promise<void> => {
    const block = blocks?.next();
    postBlock(block?.done === true ? undefined : block?.value, data, post);
  };
  let passes: Promise<PassService> | undefined;
  const explain = async (question: Parameters<PassService['answer']>[0]): Promise<void> => {
    passes ??= import('./pass-service.ts').then((loaded) => new loaded.PassService(post));
    await (await passes).answer(question);
  };
  return (message) => {
    if (message.kind === 'type' || message.kind === 'no type') return answered?.(message);
    const done =
      message.kind === 'compile'
        ? start(message.order)
        : message.kind === 'next block'
          ? next()
          : explain(message);
    done.catch((thrown: unknown) => post({ kind: 'failed', error: errorToData(thrown) }));
  };
}

async function compile(
  order: CompileOrder | TextOrder,
  post: Post,
  context: Pick<CompileContext, 'tables' | 'askType'>,
): Promise<Assembled['data']> {
  const { program, data } = await compileAnyOrder(order, {
    ...context,
    signal: new AbortController().signal,
    onProgress: (done, total) => post({ kind: 'progress', done, total }),
    onDownload: (loaded, total) => post({ kind: 'download', loaded, total }),
    onPlace: (place) => post({ kind: 'place', place }),
  });
  post({ kind: 'compiled', program });
  return data;
}

function postBlock(
  block: DataBlock | undefined,
  data: Assembled['data'] | undefined,
  post: Post,
): void {
  if (block === undefined) {
    post({ kind: 'block', block });
    return;
  }
  const { byteOffset } = block;
  // Other blocks may be parts of the model, which later ones are read from.
  const bytes = block.bytes === data ? block.bytes : Uint8Array.from(block.bytes);
  const { buffer } = bytes;
  post(
    { kind: 'block', block: { byteOffset, bytes } },
    buffer instanceof ArrayBuffer ? [buffer] : [],
  );
}
