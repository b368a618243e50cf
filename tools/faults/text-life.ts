import type { TextModel } from '../../src/text/index.ts';
import { openTestModel } from '../../src/text/testing/open-test-model.ts';
import { Life, type LifePlace } from './life.ts';

const PROMPT = [5, 9, 300, 41];
const OPTIONS = { temperature: 0.7, seed: 11, maxTokens: 24 };
/** Texts are saved behind so many pieces. */
const SAVED = 5;

/** The text on the device in the processor. */
export async function expectedText(): Promise<string> {
  const model = await openTestModel('wasm');
  const text = await model.generate(PROMPT, OPTIONS).text();
  await model.dispose();
  return text;
}

/** Generates a text twice, the second time from its cache, several at once, and one that is saved and goes on. */
export class TextLife extends Life<TextModel> {
  readonly #place: LifePlace;
  readonly #expected: string;

  constructor(place: LifePlace, expected: string) {
    super();
    this.#place = place;
    this.#expected = expected;
  }

  protected load(): Promise<TextModel> {
    return openTestModel(this.#place.device, this.#place);
  }

  protected async steps(): Promise<void> {
    await this.step('generate', () => this.#generate());
    await this.step('generate again', () => this.#generate());
    await this.step('generate several', () => this.#generateBatch());
    const { first, saved } = await this.step('save', () => this.#save());
    await this.step('resume', async () => {
      const resumed = await this.loaded.resume(saved);
      this.#check(first + (await resumed.text()));
    });
  }

  #check(text: string): void {
    if (text !== this.#expected) throw new Error(`a wrong text: ${JSON.stringify(text)}`);
  }

  async #generate(): Promise<void> {
    this.#check(await this.loaded.generate(PROMPT, OPTIONS).text());
  }

  async #generateBatch(): Promise<void> {
    const batch = this.loaded.generateBatch([PROMPT, PROMPT.slice(1)], OPTIONS);
    this.#check((await batch.text())[0] ?? '');
  }

  async #save(): Promise<{ readonly first: string; readonly saved: Uint8Array }> {
    const generation = this.loaded.generate(PROMPT, OPTIONS);
    let [first, count] = ['', 0];
    for await (const piece of generation) {
      first += piece;
      if (++count === SAVED) break;
    }
    return { first, saved: await generation.save() };
  }
}
