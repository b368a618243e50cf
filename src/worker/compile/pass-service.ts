import type { PassHistory } from '../../frontend/history/pass-history.ts';
import type { FromCompiler, ToCompiler } from './compile-protocol.ts';
import { importFormat } from './compile-order.ts';
import { SiblingFiles } from '../sources/sibling-files.ts';

type Question = Extract<ToCompiler, { readonly kind: 'passes' | 'pass' }>;

/** Compiles one model and tells what each pass made of it. */
export class PassService {
  readonly #post: (message: FromCompiler) => void;
  #history: PassHistory | undefined;

  constructor(post: (message: FromCompiler) => void) {
    this.#post = post;
  }

  async answer(question: Question): Promise<void> {
    if (question.kind === 'passes') await this.#compile(question);
    else {
      const { step, isWhole } = question;
      const lines = isWhole ? this.#history?.linesAfter(step) : this.#history?.differenceOf(step);
      this.#post({ kind: 'pass', lines: lines ?? [] });
    }
  }

  async #compile({ model, file, url, dims }: Extract<Question, { kind: 'passes' }>): Promise<void> {
    const { compileWithHistory } = await import('../../frontend/history/compile-with-history.ts');
    const format = await importFormat(typeof model === 'string' ? new Uint8Array() : model);
    const siblings = new SiblingFiles(url, undefined, new AbortController().signal);
    try {
      this.#history = await compileWithHistory(model, {
        file,
        format,
        dims,
        read: siblings.read.bind(siblings),
        onProgress: (done, total) => this.#post({ kind: 'progress', done, total }),
      });
    } finally {
      siblings.close();
    }
    this.#post({ kind: 'passes', steps: this.#history.steps });
  }
}
