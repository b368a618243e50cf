/** Cuts samples that come in pieces of any length into windows of one length. */
export class SampleWindows {
  readonly #window: Float32Array;
  #filled = 0;

  constructor(length: number) {
    this.#window = new Float32Array(length);
  }

  /** The windows that some samples complete; each is a copy. */
  *push(samples: Float32Array): Generator<Float32Array> {
    for (let at = 0; at < samples.length; ) {
      const part = samples.subarray(at, at + this.#window.length - this.#filled);
      this.#window.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled < this.#window.length) continue;
      this.#filled = 0;
      yield this.#window.slice();
    }
  }
}
