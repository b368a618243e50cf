import type { Inputs, InputValue, Session, ValueInfo } from '../../client/index.ts';
import { numbersToChoose, randomInputs } from '../../client/values/random-inputs.ts';
import { ShapeError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import { type PictureInput, pictureInputOf } from '../../tasks/pictures/model-pictures.ts';
import type { ReadFile } from '../../frontend/decoders/reader/model-folder.ts';
import { element } from '../element.ts';
import type { ChosenModel } from './model-head.ts';
import { A_TEXT, type InputKind, type KnownInputs, kindsOf } from './input-kinds.ts';
import { TextField } from './text-field.ts';
import { textInputsOf, type TextRow } from './text-inputs.ts';

/** The choice of one input. */
interface InputRow {
  readonly choice: HTMLSelectElement;
  readonly kind: () => InputKind | undefined;
}

/** Choices of the source of each input's elements. */
export class InputRows {
  readonly root = element('div', { class: 'inputs' });
  readonly #rows = new Map<string, InputRow>();
  readonly #sizes = new Map<string, HTMLInputElement>();
  readonly #inputs: readonly ValueInfo[];
  readonly #text: KnownInputs['text'];

  /** Without `beside`, which reads the model's tokenizer, no text is asked for. */
  constructor(session: Session, { beside, values = new Map() }: ChosenModel) {
    const { inputs } = session;
    this.#inputs = inputs;
    const tokens = beside && textInputsOf(inputs);
    const field = tokens && new TextField(tokens, (row) => this.#countTokens(row));
    this.#text = tokens && field && { ...tokens, field };
    const known = { pictures: pictureOf(session), text: this.#text, values };
    for (const name of numbersToChoose(inputs)) {
      const size = element('input', {
        type: 'number',
        value: values.get(name) ?? 1,
        min: 0,
        step: 1,
      });
      this.#sizes.set(name, size);
      this.root.append(element('div', { class: 'field' }, element('label', {}, `${name} `, size)));
    }
    for (const info of inputs) {
      if (!isTensor(info)) continue;
      this.root.append(this.#row(info, kindsOf(info, known)));
      if (field !== undefined && info === tokens?.ids) this.root.append(field.note);
    }
    if (field !== undefined && beside !== undefined) void this.#openTokenizer(field, beside);
  }

  /** True once there is a tokenizer for a text. */
  get hasTokenizer(): boolean {
    return this.#text?.field.hasTokenizer ?? false;
  }

  /** Reads files and devices as the rows say. */
  async values(): Promise<Inputs> {
    const inputs = this.#inputs;
    const sizes = new Map([...this.#sizes].map(([name, { value }]) => [name, Number(value)]));
    const row = this.#isText ? await this.#text?.field.row() : undefined;
    // Other inputs have as many places as the text has tokens.
    for (const name of row === undefined ? [] : this.#tokenSizes()) {
      sizes.set(name, row?.ids.length ?? 0);
    }
    const values: Record<string, InputValue> = { ...randomInputs(inputs, sizes, seededRandom(1)) };
    for (const [name, { kind }] of this.#rows) {
      const make = kind()?.make;
      if (make !== undefined) values[name] = await make(sizes, row);
    }
    return values;
  }

  #row(info: ValueInfo, kinds: readonly InputKind[]): HTMLElement {
    const choice = element(
      'select',
      { id: `input-${info.name}` },
      ...kinds.map(({ label }) => element('option', {}, label)),
    );
    const label = element('label', { for: choice.id }, info.name);
    const shown = element('span', { class: 'input-field' });
    const kind = (): InputKind | undefined => kinds[choice.selectedIndex];
    const show = (): void => {
      const field = kind()?.field;
      shown.replaceChildren(...(field === undefined ? [] : [field]));
      this.#lockSizes();
    };
    this.#rows.set(info.name, { choice, kind });
    choice.addEventListener('change', show);
    show();
    return element('div', { class: 'field' }, label, choice, shown);
  }

  /** A text is the likeliest input where there is a tokenizer, unless somebody chose already. */
  async #openTokenizer(field: TextField, beside: ReadFile): Promise<void> {
    const choice = this.#rows.get(this.#text?.ids.name ?? '')?.choice;
    let isChosen = false;
    choice?.addEventListener('change', () => {
      isChosen = true;
    });
    await field.load(beside);
    if (choice === undefined || isChosen || !field.hasTokenizer) return;
    choice.value = A_TEXT;
    choice.dispatchEvent(new Event('change'));
  }

  get #isText(): boolean {
    return this.#rows.get(this.#text?.ids.name ?? '')?.choice.value === A_TEXT;
  }

  /** Names of sizes that the text decides. Of `?` nothing is known, so it may be others too. */
  #tokenSizes(): string[] {
    return [...(this.#text?.dimensions ?? [])].filter((name) => name !== '?');
  }

  #lockSizes(): void {
    for (const name of this.#tokenSizes()) {
      const size = this.#sizes.get(name);
      if (size !== undefined) size.disabled = this.#isText;
    }
  }

  #countTokens({ ids }: TextRow): void {
    for (const name of this.#tokenSizes()) {
      const size = this.#sizes.get(name);
      if (size !== undefined) size.value = String(ids.length);
    }
  }
}

function isTensor({ dtype }: ValueInfo): boolean {
  return dtype !== 'int' && dtype !== 'float' && dtype !== 'any';
}

/** The input that takes pictures, if one does. */
function pictureOf(session: Session): PictureInput | undefined {
  try {
    return pictureInputOf(session, undefined);
  } catch (error) {
    if (error instanceof ShapeError) return undefined;
    throw error;
  }
}
