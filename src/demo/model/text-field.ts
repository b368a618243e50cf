import { describeError } from '../../core/format-quantity.ts';
import { UsageError } from '../../core/errors.ts';
import type { ReadFile } from '../../frontend/decoders/reader/model-folder.ts';
import { element } from '../element.ts';
import { type ModelTokenizer, rowOf, type TextInputs, type TextRow } from './text-inputs.ts';

const MISSING =
  'A text needs the tokenizer.json of this model: choose it here, or drop both files at once.';

/** Where a person types the text that a model gets. Its tokenizer is loaded with the first model that takes tokens. */
export class TextField {
  readonly root: HTMLElement;
  /** How many tokens a text has, or what is missing. */
  readonly note = element('p', { class: 'status', role: 'status' });
  readonly #text: HTMLInputElement;
  readonly #length: number | undefined;
  readonly #onRow: (row: TextRow) => void;
  #model: ModelTokenizer | undefined;
  #loading: Promise<void> | undefined;

  /** `onRow` hears of the tokens whenever the text or the tokenizer changes. */
  constructor({ ids, length }: TextInputs, onRow: (row: TextRow) => void) {
    this.#length = length;
    this.#onRow = onRow;
    this.#text = element('input', {
      type: 'text',
      value: 'The sun is bright today.',
      'aria-label': `Text for ${ids.name}`,
    });
    this.#text.addEventListener('input', () => void this.#show());
    const file = element('input', { type: 'file', accept: '.json' });
    file.addEventListener('change', () => {
      const given = file.files?.[0];
      if (given === undefined) return;
      void this.load(async (name) =>
        name === 'tokenizer.json' ? new Uint8Array(await given.arrayBuffer()) : undefined,
      );
    });
    const label = element('label', {}, 'tokenizer.json ', file);
    this.root = element('span', { class: 'typed-text' }, this.#text, label);
  }

  get hasTokenizer(): boolean {
    return this.#model !== undefined;
  }

  /** Takes the tokenizer of a folder, if it has one. The note says what is wrong with it. */
  async load(read: ReadFile): Promise<void> {
    this.#loading = this.#open(read);
    await this.#loading;
  }

  /** The tokens of the text. Rejects with UsageError without a tokenizer or a token. */
  async row(): Promise<TextRow> {
    await this.#loading;
    if (this.#model !== undefined) return rowOf(this.#model, this.#text.value, this.#length);
    throw new UsageError({
      where: 'the text',
      got: 'no tokenizer',
      expected: 'the tokenizer.json of the model',
      remedy: 'Choose it beside the text, or take random tokens.',
    });
  }

  async #open(read: ReadFile): Promise<void> {
    this.#say('Looking for tokenizer.json');
    try {
      const { openModelTokenizer } = await import('./model-tokenizer.ts');
      const model = await openModelTokenizer(read);
      if (model !== undefined) {
        this.#model?.tokenizer.close();
        this.#model = model;
      }
      await this.#show();
    } catch (error) {
      this.#say(`${describeError(error)} ${MISSING}`, 'error');
    }
  }

  async #show(): Promise<void> {
    if (this.#model === undefined) return this.#say(MISSING);
    const text = this.#text.value;
    try {
      const row = await rowOf(this.#model, text, this.#length);
      // Meanwhile somebody may have typed on.
      if (text !== this.#text.value) return;
      this.#say(describeRow(row));
      this.#onRow(row);
    } catch (error) {
      this.#say(describeError(error), 'error');
    }
  }

  #say(text: string, kind: 'progress' | 'error' = 'progress'): void {
    this.note.dataset['kind'] = kind;
    this.note.textContent = text;
  }
}

function describeRow({ tokenCount, isCut, ids }: TextRow): string {
  const count = `${tokenCount} ${tokenCount === 1 ? 'token' : 'tokens'}`;
  if (isCut) return `${count}; the rest of the text is left out.`;
  return ids.length > tokenCount ? `${count}, filled up to ${ids.length}.` : `${count}.`;
}
