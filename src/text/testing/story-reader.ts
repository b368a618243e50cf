import { Session, Tensor } from '../../client/index.ts';
import type { StorySizes } from './story-sizes.ts';
import { headWidth } from './story-sizes.ts';

/** Keys and values of the tokens so far, by the names of the inputs that take them. */
type Caches = Readonly<Record<string, Tensor>>;

/** The story model as generators use it: rows of tokens of one length, and caches of those before. */
export class StoryReader {
  readonly #session: Session;
  readonly #sizes: StorySizes;

  private constructor(session: Session, sizes: StorySizes) {
    this.#session = session;
    this.#sizes = sizes;
  }

  /** Of a `.weft` or `.onnx` file's bytes. */
  static async open(
    bytes: Uint8Array,
    sizes: StorySizes,
    device: 'wasm' | 'host' = 'wasm',
  ): Promise<StoryReader> {
    return new StoryReader(await Session.load(bytes, { device, worker: false }), sizes);
  }

  /** Caches of no tokens. */
  emptyCaches(rows: number): Caches {
    const { layers, keyHeads } = this.#sizes;
    const shape = [rows, keyHeads, 0, headWidth(this.#sizes)];
    const names = Array.from({ length: layers }, (_, i) => [
      `past_key_values.${i}.key`,
      `past_key_values.${i}.value`,
    ]);
    const empty = names
      .flat()
      .map((name) => [name, new Tensor('float16', new Uint16Array(0), shape)]);
    return Object.fromEntries(empty);
  }

  /** Logits [rows, tokens, vocabulary] of further tokens [rows, tokens], and the longer caches. */
  async read(
    tokens: readonly (readonly number[])[],
    caches: Caches = this.emptyCaches(tokens.length),
  ): Promise<{ logits: Float32Array; caches: Caches }> {
    const [rows, count] = [tokens.length, tokens[0]?.length ?? 0];
    const past = caches['past_key_values.0.key']?.shape[2] ?? 0;
    const ones = new BigInt64Array(rows * (past + count)).fill(1n);
    const ids = BigInt64Array.from(tokens.flat(), BigInt);
    const results = await this.#session.run({
      ...caches,
      input_ids: new Tensor('int64', ids, [rows, count]),
      attention_mask: new Tensor('int64', ones, [rows, past + count]),
    });
    const longer = Object.keys(caches).map((name) => [
      name,
      results[name.replace('past_key_values', 'present')],
    ]);
    const logits = (results['logits'] as Tensor).data as Float32Array;
    return { logits, caches: Object.fromEntries(longer) as Caches };
  }

  dispose(): Promise<void> {
    return this.#session.dispose();
  }
}
