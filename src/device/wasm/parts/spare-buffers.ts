/** Bytes that are kept at most. */
const MOST_BYTES = 2 ** 26;

/** Buffers that messages brought: to fill one again takes less time than to get new memory. */
export class SpareBuffers {
  /** The buffers, the oldest first. */
  readonly #buffers: ArrayBuffer[] = [];
  #byteLength = 0;

  /** One of that length, if there is one. */
  find(byteLength: number): ArrayBuffer | undefined {
    const at = this.#buffers.findIndex((buffer) => buffer.byteLength === byteLength);
    if (at === -1) return undefined;
    this.#byteLength -= byteLength;
    return this.#buffers.splice(at, 1)[0];
  }

  /** A copy, in one of them where it fits. */
  copy(bytes: Uint8Array): ArrayBuffer {
    const buffer = this.find(bytes.byteLength) ?? new ArrayBuffer(bytes.byteLength);
    new Uint8Array(buffer).set(bytes);
    return buffer;
  }

  add(buffer: ArrayBuffer): void {
    this.#buffers.push(buffer);
    this.#byteLength += buffer.byteLength;
    while (this.#byteLength > MOST_BYTES)
      this.#byteLength -= this.#buffers.shift()?.byteLength ?? 0;
  }
}
