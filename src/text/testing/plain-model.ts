import { Session } from '../../client/session.ts';
import { Tensor } from '../../client/values/tensor.ts';

/** The small model as it was exported, on the host: all tokens are read again for each one that comes. */
export class PlainModel {
  readonly #session: Session;

  private constructor(session: Session) {
    this.#session = session;
  }

  static async open(model: Uint8Array): Promise<PlainModel> {
    return new PlainModel(await Session.load(model, { device: 'host', worker: false }));
  }

  /** Logits of what comes behind some tokens. */
  async logits(tokens: readonly number[]): Promise<number[]> {
    const ids = BigInt64Array.from(tokens.map(BigInt));
    const shape = [1, tokens.length];
    const given: Record<string, Tensor> = {
      input_ids: new Tensor('int64', ids, shape),
      attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
      position_ids: new Tensor(
        'int64',
        ids.map((_, i) => BigInt(i)),
        shape,
      ),
    };
    const inputs = this.#session.inputs.map(({ name, dtype, shape: dims }) => {
      if (given[name]) return [name, given[name]] as const;
      const [, heads, , width] = dims ?? [];
      const empty = [1, Number(heads), 0, Number(width)];
      const past =
        dtype === 'float16'
          ? new Tensor('float16', new Uint16Array(0), empty)
          : new Tensor('float32', new Float32Array(0), empty);
      return [name, past] as const;
    });
    const { logits } = await this.#session.run(Object.fromEntries(inputs));
    const vocabulary = logits?.shape[2] ?? 0;
    return [...(logits?.data ?? [])].map(Number).slice(-vocabulary);
  }

  /** The likeliest tokens behind some others, one after the other. */
  async greedyTokens(prompt: readonly number[], count: number): Promise<number[]> {
    const tokens = [...prompt];
    for (let i = 0; i < count; i++) {
      const row = await this.logits(tokens);
      tokens.push(row.indexOf(Math.max(...row)));
    }
    return tokens.slice(prompt.length);
  }

  dispose(): Promise<void> {
    return this.#session.dispose();
  }
}
